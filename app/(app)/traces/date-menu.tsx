import { isoDay } from "../../components/date-format";
import { Field } from "../../components/field";
import { Choice } from "./choices";
import { datePresets } from "./dates";
import { HiddenFilters, Menu } from "./filter-menu";
import { type Given, listHref, without } from "./hrefs";

/** Narrows the list to sessions whose last activity is in a span of days, in the reader's time zone. */
export function DateMenu({ given, zone }: { given: Given; zone: string }) {
  const { from, to } = given;
  const others = without(given, "from", "to");
  // A link from another page may contain a moment; the fields take days only.
  const day = (value: string | undefined) => value && (value.length === 10 ? value : isoDay(new Date(value), zone));
  return (
    <Menu label="Date" isSet={from !== undefined || to !== undefined} side="right">
      <ul className="py-1">
        {(from !== undefined || to !== undefined) && (
          <li>
            <Choice href={listHref(others)} isChosen={false} text="Any time" />
          </li>
        )}
        {datePresets(zone, new Date()).map((preset) => (
          <li key={preset.label}>
            <Choice
              href={listHref({ ...others, from: preset.from })}
              isChosen={from === preset.from && to === undefined}
              text={preset.label}
            />
          </li>
        ))}
      </ul>
      <form method="get" action="/traces" className="flex flex-col gap-3 border-hairline border-t p-3">
        <HiddenFilters given={others} />
        <Field name="from" label="From" type="date" defaultValue={day(from)} />
        <Field name="to" label="To, inclusive" type="date" defaultValue={day(to)} />
        <button type="submit" className="button">
          Show
        </button>
        <p className="text-meta text-muted">By the last activity, days in {zone}.</p>
      </form>
    </Menu>
  );
}
