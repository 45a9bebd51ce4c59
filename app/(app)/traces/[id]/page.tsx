import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache } from "react";
import { z } from "zod";
import { requireUser } from "#lib/auth/session";
import { SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";
import { listMessages } from "#lib/traces/messages";
import { getTrace, type Trace } from "#lib/traces/queries";
import { messagesQuery } from "#lib/traces/schema";
import { formatCount } from "../../../components/figures";
import { TraceHeader } from "./header";
import { MessageView } from "./message";

/** A page that a browser shows at once, however long its messages are. */
const readerPage = { limit: limits.traces.messagesPerPage, maxBytes: 2 * 1024 * 1024 };

export async function generateMetadata({ params }: PageProps<"/traces/[id]">): Promise<Metadata> {
  const { id } = await params;
  const trace = await ownTrace(id);
  return { title: trace.title || "Untitled session" };
}

export default async function Page({ params, searchParams }: PageProps<"/traces/[id]">) {
  const { id } = await params;
  const user = await requireUser(`/traces/${encodeURIComponent(id)}`);
  const trace = await ownTrace(id);
  const query = await searchParams;
  const asked = messagesQuery.safeParse({ after: query.after });
  const after = asked.success ? asked.data.after : undefined;
  const { messages, nextAfter } = await listMessages(user.id, id, { after, ...readerPage });
  const first = messages[0]?.position;
  const last = messages.at(-1)?.position;
  return (
    <div className="flex flex-col gap-6">
      <TraceHeader trace={trace} deleting={query.delete === "1"} />
      {after !== undefined && (
        <p className="flex flex-wrap gap-x-4 text-code text-muted">
          <a href={`/traces/${id}`} className="link">
            From the start
          </a>
          {first !== undefined && last !== undefined && (
            <span>
              Positions {formatCount(first)} to {formatCount(last)}
            </span>
          )}
        </p>
      )}
      {messages.length > 0 ? (
        <ol className="flex flex-col gap-4">
          {messages.map((message) => (
            <MessageView key={message.position} message={message} />
          ))}
        </ol>
      ) : (
        <p className="py-8 text-muted">{after === undefined ? "This session has no messages." : "Nothing later."}</p>
      )}
      {nextAfter !== null && (
        <nav aria-label="Pages of the session">
          <a href={`/traces/${id}?after=${nextAfter}`} rel="next" className="button">
            Later
          </a>
        </nav>
      )}
    </div>
  );
}

/** The trace of the signed-in person; somebody else's and a missing one are the same 404. */
const ownTrace = cache(async (id: string): Promise<Trace> => {
  const user = await requireUser(`/traces/${encodeURIComponent(id)}`);
  if (!z.uuid().safeParse(id).success) notFound();
  try {
    return await getTrace(user.id, id);
  } catch (error) {
    if (error instanceof SpoorError && error.code === "not_found") notFound();
    throw error;
  }
});
