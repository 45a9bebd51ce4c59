import { Field } from "../../components/field";
import { Sign } from "../../components/sign";
import { filterNames, type ListRequest, listHref, without } from "./filters";

type Given = ListRequest["given"];

/** The filters that are set, as chips that take them away, and the form that sets them. */
export function FilterBar({ given }: { given: Given }) {
  return (
    <>
      <ul className="flex min-w-0 grow flex-wrap gap-2">
        {filterNames.map((name) => {
          const value = given[name];
          if (value === undefined) return null;
          return (
            <li key={name} className="min-w-0">
              <a
                href={listHref(without(given, name))}
                className="flex h-6 items-center gap-1 rounded-control bg-tint px-2 text-code text-text hover:opacity-80"
              >
                <span className="sr-only">Remove filter</span>
                <span className="text-muted">{name}</span>
                <span className="truncate">{value}</span>
                <Sign name="cross" />
              </a>
            </li>
          );
        })}
      </ul>
      <details className="relative ml-auto">
        <summary className="button list-none gap-1">
          Filter <Sign name="down" />
        </summary>
        <form
          method="get"
          action="/traces"
          className="absolute right-0 z-10 mt-1 flex w-72 flex-col gap-3 rounded-block border border-hairline bg-overlay p-4 shadow-lg"
        >
          <Field name="source" label="Source" defaultValue={given.source} hint="Exactly, such as claude-code" />
          <Field name="model" label="Model" defaultValue={given.model} />
          <Field name="project" label="Project" defaultValue={given.project} />
          <div className="grid grid-cols-2 gap-3">
            <Field name="from" label="From" type="date" defaultValue={given.from?.slice(0, 10)} />
            <Field name="to" label="To" type="date" defaultValue={given.to?.slice(0, 10)} />
          </div>
          <button type="submit" className="button button-accent">
            Show
          </button>
        </form>
      </details>
    </>
  );
}
