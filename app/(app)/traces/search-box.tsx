import { type Given, without } from "./hrefs";

/** The search over all sessions, within the filters that are set. */
export function SearchBox({ given }: { given: Given }) {
  return (
    <search className="grow">
      <form method="get" action="/traces" className="flex gap-2">
        <label htmlFor="search" className="sr-only">
          Search
        </label>
        <input
          id="search"
          type="search"
          name="q"
          defaultValue={given.q}
          placeholder='words "a phrase" file:x.ts'
          autoComplete="off"
          spellCheck={false}
          maxLength={512}
          className="input min-w-0 max-w-lg grow"
        />
        {Object.entries(without(given, "q")).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <button type="submit" className="button">
          Search
        </button>
      </form>
    </search>
  );
}
