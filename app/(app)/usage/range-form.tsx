import { Field } from "../../components/forms/field";
import { Sign } from "../../components/sign";
import { lengths, type UsageRequest, usageHref } from "./range";
import { dayText } from "./words";

export function RangeForm({ request }: { request: UsageRequest }) {
  const { days, from, to, by, show, filter } = request;
  return (
    <nav aria-label="Time" className="flex flex-wrap items-center gap-1 max-sm:-mx-2 max-sm:gap-0">
      {Object.entries(lengths).map(([length, text]) => (
        <a
          key={length}
          href={usageHref(request, { range: { days: length } })}
          aria-current={length === days ? "true" : undefined}
          className="button button-quiet px-2 font-normal aria-[current]:bg-tint aria-[current]:font-medium aria-[current]:text-accent"
        >
          {text}
        </a>
      ))}
      <details className="relative" data-menu>
        <summary
          className={`button list-none gap-1 px-2 font-normal ${days ? "button-quiet" : "bg-tint font-medium text-accent"}`}
        >
          {days ? "Days" : `${dayText(from, true)} to ${dayText(to, true)}`} <Sign name="down" />
        </summary>
        <form
          method="get"
          action="/usage"
          className="absolute z-10 mt-1 flex w-72 flex-col gap-3 rounded-block border border-hairline bg-overlay p-4 shadow-lg max-sm:right-0 sm:right-0"
        >
          <div className="grid grid-cols-2 gap-3">
            <Field name="from" label="From" type="date" defaultValue={from} />
            <Field name="to" label="To" type="date" defaultValue={to} />
          </div>
          <input type="hidden" name="by" value={by} />
          {show && <input type="hidden" name="show" value={show} />}
          {Object.entries(filter).map(
            ([name, value]) => value && <input key={name} type="hidden" name={name} value={value} />,
          )}
          <button type="submit" className="button button-accent">
            Show
          </button>
        </form>
      </details>
    </nav>
  );
}
