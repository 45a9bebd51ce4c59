import type { Metadata } from "next";
import { requireUser } from "#lib/auth/session";
import { SpoorError } from "#lib/errors";
import { listTraces } from "#lib/traces/queries";
import { Notice } from "../../components/notice";
import { readerZone } from "../../components/zone";
import { Connect } from "./connect";
import { FilterBar } from "./filter-bar";
import { type ListRequest, listHref, readListParams } from "./filters";
import { NoHits } from "./no-hits";
import { TraceList } from "./trace-list";

export const metadata: Metadata = { title: "Traces" };

export default async function Page({ searchParams }: PageProps<"/traces">) {
  const request = readListParams(await searchParams, await readerZone());
  const user = await requireUser(listHref(request.given));
  const { traces, nextCursor, ignored } = await readPage(user.id, request);
  const { given, cursor } = request;
  const filtered = Object.keys(given).length > 0;
  if (traces.length === 0 && !filtered && !cursor && ignored.length === 0) return <Connect />;
  return (
    <>
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2 pb-4">
        <h1 className="font-semibold text-title">Traces</h1>
        <FilterBar given={given} />
      </div>
      {ignored.length > 0 && (
        <div className="pb-4">
          <Notice tone="warn">
            <p>
              Left out, because {ignored.length === 1 ? "it is" : "they are"} not valid: {ignored.join(", ")}.
            </p>
          </Notice>
        </div>
      )}
      {traces.length > 0 && <TraceList traces={traces} given={given} />}
      {traces.length === 0 && filtered && <NoHits userId={user.id} request={request} />}
      {traces.length === 0 && !filtered && <p className="py-8 text-muted">Nothing older.</p>}
      <nav aria-label="Pages of the list" className="flex gap-4 py-4">
        {cursor && (
          <a href={listHref(given)} className="link">
            Newest
          </a>
        )}
        {nextCursor && (
          <a href={listHref(given, { cursor: nextCursor })} className="link" rel="next">
            Older
          </a>
        )}
      </nav>
    </>
  );
}

/** A cursor that no page gave out shows the first page, as a wrong filter shows the list without it. */
async function readPage(userId: string, { filter, cursor, limit, ignored }: ListRequest) {
  try {
    return { ...(await listTraces(userId, filter, { cursor, limit })), ignored };
  } catch (error) {
    if (!(error instanceof SpoorError && error.code === "invalid_request")) throw error;
    return { ...(await listTraces(userId, filter, { limit })), ignored: [...ignored, "cursor"] };
  }
}
