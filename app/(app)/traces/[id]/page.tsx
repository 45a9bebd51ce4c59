import "./messages/styles";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache, Suspense } from "react";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { SpoorError } from "#lib/core/errors";
import { describeOriginal } from "#lib/originals/queries";
import type { Selection } from "#lib/search/sql/selection";
import { readEvidence } from "#lib/traces/evidence";
import { hasTooManyOutlines, readOutline } from "#lib/traces/outline";
import { getTrace, neighbours, type Trace } from "#lib/traces/queries";
import { readStanding } from "#lib/traces/standing";
import { readCircumstances } from "#lib/traces/usage";
import { orMissing } from "../../../components/missing";
import { Notice } from "../../../components/notice";
import type { SearchParams } from "../../../components/shell/pages";
import { readerZone } from "../../../components/shell/preferences";
import { listed as listedBy, readListParams } from "../filters/filters";
import { listHref } from "../hrefs";
import { CameOfIt } from "./facts/came-of-it";
import { DeleteQuestion } from "./facts/delete-question";
import { TraceFacts } from "./facts/facts";
import { readFamilyKin, sumOwn } from "./facts/family";
import { listResumeWays } from "./facts/resume";
import { type Links, parseFilter, readerHref } from "./frame/links";
import { OutlineData, OutlinePending, readOutlineWidth } from "./outline/outline-data";
import { OwnReader } from "./own-reader";
import { renderSegment } from "./segments/render";
import { parseSegmentRequest } from "./segments/request";

export async function generateMetadata({ params }: PageProps<"/traces/[id]">): Promise<Metadata> {
  const { id } = await params;
  return { title: getPageTitle(await ownTrace(id)) };
}

export default async function Page({ params, searchParams }: PageProps<"/traces/[id]">) {
  const { id } = await params;
  const user = await requireUser(`/traces/${encodeURIComponent(id)}`);
  // Checked while the status can still change: the outline is streamed last.
  if (hasTooManyOutlines(user.id)) throw new SpoorError("overloaded");
  const query = await searchParams;
  const zone = await readerZone();
  const [trace, copy, standing, { segment, talk, opened }, kin, circumstances, evidence] = await Promise.all([
    ownTrace(id),
    ownTrace(id).then((trace) => describeOriginal(user.id, trace)),
    ownTrace(id).then((trace) => readStanding(user.id, trace)),
    readView(user.id, id, query),
    readFamilyKin(user.id, id),
    readCircumstances(user.id, id),
    ownTrace(id).then(({ metadata }) => readEvidence(user.id, id, metadata?.repository)),
  ]);
  const resume = listResumeWays(trace, Boolean(copy));
  const filter = parseFilter(query);
  const facts = (
    <>
      <TraceFacts
        trace={trace}
        copy={copy}
        kin={{ ...kin, own: sumOwn(trace) }}
        circumstances={circumstances}
        branches={evidence.branches}
        resume={resume}
        deleting={query.delete === "1" && <DeleteQuestion userId={user.id} trace={trace} />}
      />
      <CameOfIt evidence={evidence} />
      {opened && (
        <Notice tone="info">
          <p>The linked message is not part of the conversation, so everything is shown.</p>
        </Notice>
      )}
    </>
  );
  if (!segment) return <Empty trace={trace} facts={facts} />;
  const { at } = parseSegmentRequest(query) as { at?: number };
  return (
    <div className="reader -my-6">
      <OwnReader
        key={`${id} ${zone}`} // keeps no state across sessions or time zones
        traceId={id}
        zone={zone}
        title={getPageTitle(trace)}
        whole={trace.title ?? undefined}
        total={trace.messageCount}
        initial={segment}
        talk={talk}
        at={at}
        filter={filter}
        links={await makeReaderLinks(user.id, id, filter, besides(filter, zone, kin.origin?.parentId), at)}
        resume={resume}
        standing={standing}
        outlineWidth={await readOutlineWidth()}
        facts={facts}
        outline={
          <Suspense fallback={<OutlinePending />}>
            <OutlineData read={() => readOutline(user.id, id)} />
          </Suspense>
        }
      />
    </div>
  );
}

const getPageTitle = (trace: Trace) => trace.shortTitle || "Untitled session";

async function readView(userId: string, id: string, query: SearchParams) {
  if (!z.uuid().safeParse(id).success) notFound();
  const talk = query.view === "talk";
  const request = parseSegmentRequest(query);
  const segment = await renderSegment(userId, id, request, talk);
  if (!segment?.hidden) return { segment, talk, opened: false };
  return { segment: await renderSegment(userId, id, request, false), talk: false, opened: true };
}

/** A folded session's neighbours are its parent's sub-agents. */
function besides(filter: ReturnType<typeof parseFilter>, zone: string, parent: string | undefined): Selection {
  const selection = listedBy(readListParams(filter, zone).filter);
  return selection.families && parent ? { parent } : selection;
}

async function makeReaderLinks(
  userId: string,
  id: string,
  filter: ReturnType<typeof parseFilter>,
  listed: Selection,
  at: number | undefined,
): Promise<Links> {
  const { newer, older } = await neighbours(userId, id, listed);
  const place = { ...filter, ...(at !== undefined && { at: String(at) }) };
  const beside = (one: typeof newer) =>
    one && { href: readerHref(one.id, filter), title: one.title ?? "Untitled session" };
  return {
    list: listHref(filter),
    all: readerHref(id, place),
    // The conversation view may leave out the message itself.
    talk: readerHref(id, { ...filter, ...(at !== undefined && at > 0 && { after: String(at - 1) }), view: "talk" }),
    newer: beside(newer),
    older: beside(older),
  };
}

function Empty({ trace, facts }: { trace: Trace; facts: React.ReactNode }) {
  return (
    <div className="flex flex-col gap-4">
      {facts}
      <p className="py-8 text-muted">
        {trace.messageCount === 0 ? "This session has no messages." : "No messages here."}{" "}
        {trace.messageCount > 0 && (
          <a href={`/traces/${trace.id}`} className="link">
            From the start
          </a>
        )}
      </p>
    </div>
  );
}

const ownTrace = cache(async (id: string): Promise<Trace> => {
  const user = await requireUser(`/traces/${encodeURIComponent(id)}`);
  if (!z.uuid().safeParse(id).success) notFound();
  return orMissing(getTrace(user.id, id));
});
