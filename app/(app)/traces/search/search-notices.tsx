import { correctFilters } from "#lib/search/grammar";
import { correct } from "#lib/search/slips";
import { Notice } from "../../../components/notice";
import { type GivenFilters, listHref } from "../hrefs";

type Props = { given: GivenFilters; corrected?: string; isPartial?: boolean };

export function Instead({ given, corrected, isPartial }: Props) {
  if (!corrected && !isPartial) return null;
  return (
    <div className="flex flex-col gap-1 py-3">
      {corrected && (
        <p className="text-muted">
          No session contains all of this. Searched for{" "}
          <a href={listHref({ ...given, q: corrected })} className="link">
            {corrected}
          </a>{" "}
          instead.
        </p>
      )}
      {isPartial && <p className="text-muted">No session contains all of these words. These contain most of them.</p>}
    </div>
  );
}

export async function Meant({ userId, given }: { userId: string; given: GivenFilters }) {
  const corrected = given.q && (correctFilters(given.q) ?? (await correct(userId, given.q)));
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

export function Lag({ sessions }: { sessions: number }) {
  if (sessions === 0) return null;
  const count =
    sessions >= 1000 ? "1,000 or more sessions are" : sessions === 1 ? "1 session is" : `${sessions} sessions are`;
  return (
    <div className="pb-4">
      <Notice tone="info">
        <p>{count} not yet searchable.</p>
      </Notice>
    </div>
  );
}
