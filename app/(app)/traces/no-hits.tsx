import { listTraces } from "#lib/traces/queries";
import { readerZone } from "../../components/zone";
import { type FilterName, type ListRequest, listHref, readListParams, without } from "./filters";

/** Says which filter to drop: the ones without which there is something. */
export async function NoHits({ userId, request: { given } }: { userId: string; request: ListRequest }) {
  const zone = await readerZone();
  const tries = await Promise.all(
    (Object.keys(given) as FilterName[]).map(async (name) => {
      const rest = without(given, name);
      const { traces } = await listTraces(userId, readListParams(rest, zone).filter, { limit: 1 });
      return { name, rest, helps: traces.length > 0 };
    }),
  );
  const helpful = tries.filter(({ helps }) => helps);
  return (
    <div className="flex flex-col gap-3 py-8">
      <p>No session matches {tries.length === 1 ? "this filter" : "all of these filters"}.</p>
      <ul className="flex flex-col gap-2">
        {helpful.map(({ name, rest }) => (
          <li key={name}>
            <a href={listHref(rest)} className="link">
              Drop {name}
            </a>{" "}
            <span className="text-muted">“{given[name]}”: then there are some.</span>
          </li>
        ))}
        {tries.length > 1 && helpful.length === 0 && (
          <li>
            <a href="/traces" className="link">
              Drop all of them
            </a>{" "}
            <span className="text-muted">None of them alone is what hides the rest.</span>
          </li>
        )}
      </ul>
    </div>
  );
}
