import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { textForOthers } from "#lib/traces/for-others";
import { getTrace, type Trace } from "#lib/traces/queries";
import type { OpenedShare } from "#lib/traces/shares";
import "../../(app)/traces/[id]/messages/styles";
import { drawSegment } from "../../(app)/traces/[id]/segments/render";
import { requestOf } from "../../(app)/traces/[id]/segments/request";
import { countOf } from "../../components/figures";
import { Mark, Monogram } from "../../components/mark";
import { orMissing } from "../../components/or-missing";
import { Time } from "../../components/time";
import { openedBy, toReaders } from "./opened";
import { SharedShell } from "./shell";

export async function generateMetadata({ params }: PageProps<"/shared/[token]">): Promise<Metadata> {
  const { trace } = await shared((await params).token);
  return { title: titleOf(trace), robots: { index: false, follow: false } };
}

/** One session for anyone with its link, without an account or a way into one. */
export default async function Page({ params, searchParams }: PageProps<"/shared/[token]">) {
  const { token } = await params;
  const { trace, ...opened } = await shared(token);
  const { expiresAt, shown } = opened;
  const segment = await drawSegment(toReaders(opened, token), requestOf(await searchParams), false);
  const address = `/shared/${token}`;
  return (
    <>
      {/* The last one counts: the default would send this secret address to the server's other pages. */}
      <meta name="referrer" content="no-referrer" />
      <main id="main" tabIndex={-1} className="wide flex grow flex-col gap-6 py-6 outline-none">
        <SharedHeader trace={trace} expiresAt={expiresAt} shown={shown} />
        {!segment && <p className="py-8 text-muted">There are no messages here.</p>}
        {segment?.earlier && <Edge href={`${address}?before=${segment.first}`} name="Earlier" />}
        {segment && <SharedShell token={token} markup={{ __html: segment.html }} />}
        {segment?.later && <Edge href={`${address}?after=${segment.last}`} name="Later" />}
      </main>
    </>
  );
}

function Edge({ href, name }: { href: string; name: string }) {
  return (
    <nav aria-label={`${name} messages`}>
      <a href={href} className="button">
        {name}
      </a>
    </nav>
  );
}

const titleOf = (trace: Trace) => trace.title || "Untitled session";

function SharedHeader({ trace, expiresAt, shown }: { trace: Trace } & Pick<OpenedShare, "expiresAt" | "shown">) {
  const { source, model, messageCount, createdAt, updatedAt } = trace;
  return (
    <header className="flex flex-col gap-3 border-hairline border-b pb-4">
      <p className="flex flex-wrap items-center gap-x-2 text-code text-muted">
        <Mark /> A session that was shared with you
        {expiresAt && (
          <span>
            · until <Time at={expiresAt.toISOString()} as="moment" />
          </span>
        )}
      </p>
      <div className="flex items-start gap-3">
        <Monogram source={source} />
        <h1 className="min-w-0 break-words font-semibold text-title">{titleOf(trace)}</h1>
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-code">
        <span>{source}</span>
        {model && <span className="break-all">{model}</span>}
        {shown.from === null && shown.to === null ? (
          <span>{countOf(messageCount, "message")}</span>
        ) : (
          <span>a part of a session</span>
        )}
        {shown.masked && <span className="text-muted">secrets hidden</span>}
        <span className="text-muted">
          <Time at={createdAt ?? updatedAt} as="long" />
        </span>
      </p>
    </header>
  );
}

/** What the link opens. Unknown, expired and revoked links and those of deleted sessions are the same 404. */
async function shared(token: string) {
  const opened = await openedBy(token);
  if (!opened) notFound();
  const trace = await orMissing(getTrace(opened.userId, opened.traceId));
  const title = opened.shown.masked ? textForOthers(trace.title ?? "") : trace.title;
  return { ...opened, trace: { ...trace, title } };
}
