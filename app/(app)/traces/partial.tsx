import { correct } from "#lib/search/slips";
import { type GivenFilters, listHref } from "./hrefs";

type Props = { given: GivenFilters; corrected?: string; isPartial?: boolean };

/** Explains that words without hits were corrected or left out. */
export function Instead({ given, corrected, isPartial }: Props) {
  if (!corrected && !isPartial) return null;
  return (
    <div className="flex flex-col gap-1 py-3">
      {corrected && (
        <p className="text-muted">
          No session has all of what you typed. Searched for{" "}
          <a href={listHref({ ...given, q: corrected })} className="link">
            {corrected}
          </a>{" "}
          instead.
        </p>
      )}
      {isPartial && <p className="text-muted">No session has all of these words. These have most of them.</p>}
    </div>
  );
}

/** Suggests a correction if a search finds nothing. */
export async function Meant({ userId, given }: { userId: string; given: GivenFilters }) {
  const corrected = given.q && (await correct(userId, given.q));
  if (!corrected) return null;
  return (
    <p>
      Did you mean{" "}
      <a href={listHref({ ...given, q: corrected })} className="link">
        {corrected}
      </a>
      ?
    </p>
  );
}
