import { countTraces } from "#lib/traces/facets";
import type { FilterName } from "#lib/traces/schema";
import { readerZone } from "../../components/zone";
import { maxCounted, sessionsOf } from "./count";
import { type ListRequest, readListParams } from "./filters";
import { labelOf, listHref, shownValue, without } from "./hrefs";

type Props = { userId: string; request: ListRequest; project: string | undefined };

/** Suggests which filter to remove: each one without which sessions match, and how many. */
export async function NoHits({ userId, request: { given }, project }: Props) {
  const zone = await readerZone();
  const tries = await Promise.all(
    (Object.keys(given) as FilterName[]).map(async (name) => {
      const rest = without(given, name);
      return { name, rest, count: await countTraces(userId, readListParams(rest, zone).filter, maxCounted + 1) };
    }),
  );
  const helpful = tries.filter(({ count }) => count > 0).toSorted((a, b) => a.count - b.count);
  return (
    <div className="flex flex-col gap-3 py-8">
      <p>No session matches {tries.length === 1 ? "this filter" : "all of these filters"}.</p>
      <ul className="flex flex-col gap-2">
        {helpful.map(({ name, rest, count }) => (
          <li key={name}>
            <a href={listHref(rest)} className="link">
              Remove {labelOf(name)}
            </a>{" "}
            <span className="text-muted">
              “{shownValue(given, name, project)}” to see {sessionsOf(count)}.
            </span>
          </li>
        ))}
        {tries.length > 1 && helpful.length === 0 && (
          <li>
            <a href="/traces" className="link">
              Remove all of them
            </a>{" "}
            <span className="text-muted">Removing only one of them finds nothing either.</span>
          </li>
        )}
      </ul>
    </div>
  );
}
