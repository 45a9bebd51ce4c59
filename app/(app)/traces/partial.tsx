import { correct } from "#lib/search/slips";
import { type Given, listHref } from "./hrefs";

/** What a list shows instead of nothing: sessions with most of the words, and what was probably meant. */
export async function Partial({ userId, given }: { userId: string; given: Given }) {
  return (
    <div className="flex flex-col gap-1 py-3">
      <p className="text-muted">No session has all of these words. These have most of them.</p>
      <Meant userId={userId} given={given} />
    </div>
  );
}

/** A search with its slips corrected, where words are in no session. */
export async function Meant({ userId, given }: { userId: string; given: Given }) {
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
