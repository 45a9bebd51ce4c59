import "server-only";
import { exportStream } from "#lib/traces/export";
import { readMessagesInTurn } from "#lib/traces/messages";
import type { Message, TraceRow } from "#lib/traces/queries";

const messagePage = { limit: 500, maxBytes: 1024 * 1024 };

/**
 * A trace as a Markdown document: its title and facts, then each message under a heading with role, time and position. Contents
 * are unchanged, metadata is JSON. Pages are read as the client consumes them. The stream fails where messages are missing: a part
 * of a trace must not pass for the whole.
 *
 * @throws SpoorError `overloaded` as `exportTraces`.
 */
export function markdownOf(userId: string, trace: TraceRow): Promise<ReadableStream<Uint8Array>> {
  return exportStream(userId, parts(userId, trace));
}

async function* parts(userId: string, trace: TraceRow): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  yield encoder.encode(headMarkdown(trace));
  let sent = 0;
  let after: number | null = -1;
  while (after !== null) {
    const page: Awaited<ReturnType<typeof readMessagesInTurn>> = await readMessagesInTurn(
      userId,
      trace.id,
      after,
      messagePage,
    );
    if (page.messages.length > 0) yield encoder.encode(page.messages.map(messageMarkdown).join(""));
    sent += page.messages.length;
    after = page.nextAfter;
  }
  if (sent < trace.messageCount) throw new Error("a trace was deleted or shortened while it was exported");
}

/** The start of the document: the title, and a list of facts. */
export function headMarkdown(trace: TraceRow): string {
  const { source, sourceId, model, project, createdAt, activityAt, messageCount, tokenCount } = trace;
  const facts: [string, string | null | undefined][] = [
    ["Agent", source],
    ["Session", sourceId],
    ["Model", model],
    ["Project", project],
    ["Started", createdAt?.toISOString()],
    ["Last activity", activityAt.toISOString()],
    ["Messages", String(messageCount)],
    ["Tokens", Number(tokenCount) > 0 ? String(tokenCount) : null],
  ];
  const lines = facts.flatMap(([name, value]) => (value ? [`- ${name}: ${oneLine(value)}`] : []));
  return `# ${oneLine(trace.title ?? trace.derivedTitle ?? "Untitled session")}\n\n${lines.join("\n")}\n`;
}

/** One message under its heading. */
export function messageMarkdown({ position, role, content, createdAt, metadata }: Message): string {
  const heading = [role ?? "unknown", createdAt, `#${position}`].filter(Boolean).join(" · ");
  const body = content === "" ? "" : `\n${content.trimEnd()}\n`;
  return `\n## ${oneLine(heading)}\n${body}${metadata ? `\n${fenced(JSON.stringify(metadata, null, 2))}\n` : ""}`;
}

/** JSON in a fence longer than any run of backticks in it (CommonMark 0.31, section 4.5). */
function fenced(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
