import "../../(app)/traces/[id]/messages/styles";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache, Suspense } from "react";
import { readHiddenNames } from "#lib/masking/for-others";
import { makeHider } from "#lib/masking/mask-pieces";
import { getModelFamily } from "#lib/prices/model";
import type { OpenedShare } from "#lib/shares/shares";
import { getTraceRow, presentTrace, type Trace } from "#lib/traces/queries";
import { getTitleForOthers } from "#lib/traces/title-for-others";
import { Title } from "../../(app)/traces/[id]/facts/head";
import { type Links, placeHref } from "../../(app)/traces/[id]/frame/links";
import { OutlineData, OutlinePending, readOutlineWidth } from "../../(app)/traces/[id]/outline/outline-data";
import { asSegment, drawSegment } from "../../(app)/traces/[id]/segments/render";
import { parseSegmentRequest } from "../../(app)/traces/[id]/segments/request";
import { Mark } from "../../components/mark";
import { orMissing } from "../../components/missing";
import { GuestKeys, KeysButton } from "../../components/shell/keys";
import type { SearchParams } from "../../components/shell/pages";
import { readerZone, readKeys } from "../../components/shell/preferences";
import { AgentIcon } from "../../components/values/agent-icon";
import { formatQuantity } from "../../components/values/figures";
import { Time } from "../../components/values/time";
import { openedBy, toReaders } from "./opened";
import { sharedOutline } from "./outline";
import { SharedReader } from "./shared-reader";

export async function generateMetadata({ params }: PageProps<"/shared/[token]">): Promise<Metadata> {
  const { trace } = await shared((await params).token);
  return { title: trace.title, robots: { index: false, follow: false } };
}

export default async function Page({ params, searchParams }: PageProps<"/shared/[token]">) {
  const { token } = await params;
  const { trace, opened } = await shared(token);
  const [query, zone] = [await searchParams, await readerZone()];
  const { segment, talk } = await readView(opened, token, query);
  const { at } = parseSegmentRequest(query) as { at?: number };
  const facts = <SharedFacts trace={trace} opened={opened} />;
  return (
    <>
      {/* The last one counts: the default would send this secret address to other pages of the server. */}
      <meta name="referrer" content="no-referrer" />
      <main id="main" tabIndex={-1} className="wide without-bar max-w-[100rem] grow outline-none">
        {segment ? (
          <SharedReader
            key={zone} // message times depend on it
            token={token}
            zone={zone}
            title={trace.title}
            total={0}
            initial={asSegment(segment)}
            talk={talk}
            at={at}
            filter={{}}
            links={makeSharedLinks(token, at)}
            standing={{ live: false, waiting: null }}
            outlineWidth={await readOutlineWidth()}
            facts={facts}
            outline={
              <Suspense fallback={<OutlinePending />}>
                <OutlineData read={() => sharedOutline(opened)} />
              </Suspense>
            }
          />
        ) : (
          <>
            {facts}
            <p className="py-8 text-muted">No messages here.</p>
          </>
        )}
        <GuestKeys isOn={(await readKeys()) === "on"} />
      </main>
    </>
  );
}

async function readView(opened: OpenedShare, token: string, query: SearchParams) {
  const shown = toReaders(opened, token);
  const talk = query.view === "talk";
  const segment = await drawSegment(shown, parseSegmentRequest(query), talk);
  if (!segment?.hidden) return { segment, talk };
  return { segment: await drawSegment(shown, parseSegmentRequest(query), false), talk: false };
}

function makeSharedLinks(token: string, at: number | undefined): Links {
  const page = `/shared/${token}`;
  return {
    all: placeHref(page, at === undefined ? {} : { at: String(at) }),
    talk: placeHref(page, { ...(at !== undefined && at > 0 && { after: String(at - 1) }), view: "talk" }),
  };
}

function SharedFacts({ trace, opened: { expiresAt, shown } }: { trace: Trace; opened: OpenedShare }) {
  const { source, model, messageCount, createdAt, updatedAt, dated } = trace;
  const isWhole = shown.from === null && shown.to === null;
  return (
    <div className="session-head text-code">
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        <Mark />
        <span>
          A session that was shared with you
          {expiresAt && (
            <>
              {" "}
              · until <Time at={expiresAt.toISOString()} as="moment" />
            </>
          )}
        </span>
        <span className="contents pointer-coarse:hidden">
          · <KeysButton />
        </span>
      </p>
      <Title text={trace.title ?? "A session"} />
      <p className="head-chips">
        <span className="chip">
          <AgentIcon source={source} /> {source}
        </span>
        {model && <span className="chip">{getModelFamily(model)}</span>}
        <span className="chip-plain">{isWhole ? formatQuantity(messageCount, "message") : "a part of a session"}</span>
        {shown.masked && <span className="chip-plain">secrets hidden</span>}
        {dated && (
          <span className="chip-plain">
            <Time at={createdAt ?? updatedAt} as="long" />
          </span>
        )}
      </p>
    </div>
  );
}

/** Unknown, expired and revoked links and deleted sessions are the same 404. */
const shared = cache(async (token: string) => {
  const opened = await openedBy(token);
  if (!opened) notFound();
  const row = await orMissing(getTraceRow(opened.userId, opened.traceId));
  const title = await getTitleForOthers(opened.userId, row, opened.shown);
  const trace = presentTrace(row);
  const model = trace.model && opened.shown.masked ? makeHider(readHiddenNames(row))(trace.model) : trace.model;
  return { opened, trace: { ...trace, title, model } };
});
