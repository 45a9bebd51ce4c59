import { correctFilters, parseTerms, withoutTerm } from "#lib/search/grammar";
import { isQuery } from "#lib/search/query";
import type { FilterName } from "#lib/search/schema";
import { countTraces } from "#lib/traces/facets";
import { readerZone } from "../../../components/shell/preferences";
import { formatCount } from "../../../components/values/figures";
import { type ListRequest, readListParams, shown } from "../filters/filters";
import { type FilterTitles, type GivenFilters, getFilterLabel, listHref, shownValues, without } from "../hrefs";
import { Meant } from "./search-notices";

type Props = { userId: string; request: ListRequest; names: FilterTitles };

export async function NoHits({ userId, request: { given, order }, names }: Props) {
  const zone = await readerZone();
  const tries = await Promise.all(
    (Object.keys(given) as FilterName[]).map(async (name) => {
      const rest = without(given, name);
      return { name, rest, max: getMaxCount(rest), count: await countMatches(userId, rest, zone) };
    }),
  );
  // A search finds archived sessions, too.
  const isHidden = given.q === undefined && given.archived === undefined;
  const archived = isHidden ? await countMatches(userId, { ...given, archived: "true" }, zone) : 0;
  const terms = given.q ? await tryOtherTerms(userId, given, zone) : [];
  const helpful = tries.filter(({ count }) => count > 0).toSorted((a, b) => a.count - b.count);
  return (
    <div className="flex flex-col gap-3 py-8">
      <p>No session matches {tries.length > 1 ? "all of these filters" : given.q ? "this search" : "this filter"}.</p>
      {(order !== "best" || (given.q && correctFilters(given.q))) && <Meant userId={userId} given={given} />}
      {archived > 0 && (
        <p>
          <a href={listHref({ ...given, archived: "true" })} className="link">
            Show archived sessions
          </a>{" "}
          <span className="text-muted">to see {formatSessionCount(archived, maxCounted)}.</span>
        </p>
      )}
      {terms.length > 1 && <Terms given={given} terms={terms} />}
      <ul className="flex flex-col gap-2">
        {helpful.map(({ name, rest, max, count }) => (
          <li key={name}>
            <a href={listHref(rest)} className="link">
              Remove {getFilterLabel(name)}
            </a>{" "}
            <span className="text-muted">
              “{shownValues(given, name, names)}” to see {formatSessionCount(count, max)}.
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

const getMaxCount = ({ q }: GivenFilters) => (q ? maxFound : maxCounted);
const countMatches = (userId: string, given: GivenFilters, zone: string) =>
  countTraces(userId, shown(readListParams(given, zone).filter), getMaxCount(given) + 1);

const maxTerms = 8;

type TermTry = { written: string; alone: number; rest: string; without: number };

async function tryOtherTerms(userId: string, given: GivenFilters, zone: string): Promise<TermTry[]> {
  const q = given.q ?? "";
  const counts = new Map<string, number>(); // with two terms, one is the other's remainder
  const count = async (text: string) => {
    if (text === "" || !isQuery(text)) return 0;
    const known = counts.get(text) ?? (await countMatches(userId, { ...given, q: text }, zone));
    counts.set(text, known);
    return known;
  };
  const tries: TermTry[] = [];
  // A page takes one of its user's heavy reads at a time.
  for (const term of parseTerms(q).slice(0, maxTerms)) {
    const rest = withoutTerm(q, term);
    tries.push({ written: term.written, alone: await count(term.written), rest, without: await count(rest) });
  }
  return tries;
}

function Terms({ given, terms }: { given: GivenFilters; terms: TermTry[] }) {
  return (
    <ul aria-label="What each part of the search finds" className="flex flex-col gap-2">
      {terms.map(({ written, alone, rest, without }) => (
        <li key={`${written} ${rest}`}>
          <code>{written}</code> <span className="text-muted">alone finds {formatSessionCount(alone, maxFound)}</span>
          {without > 0 && (
            <>
              {" · "}
              <a href={listHref({ ...given, q: rest })} className="link">
                Leave it out
              </a>{" "}
              <span className="text-muted">to see {formatSessionCount(without, maxFound)}</span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Counting more matches takes too long. */
export const maxCounted = 10_000;
/** Lower, since a search checks its hits one by one. */
export const maxFound = 1000;

/** "1 session", "212 sessions", "10,000+ sessions" */
export function formatSessionCount(count: number, max = maxCounted): string {
  if (count > max) return `${formatCount(max)}+ sessions`;
  return `${formatCount(count)} ${count === 1 ? "session" : "sessions"}`;
}
