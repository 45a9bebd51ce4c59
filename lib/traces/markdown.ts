import "server-only";
import { env } from "#lib/env";
import type { ReaderMessage } from "#lib/reader/message";
import { readableJson } from "#lib/reader/text";
import { titleOf } from "#lib/reader/title";
import type { Masked } from "#lib/traces/export-schema";
import { allForOthers, readHiddenNames } from "#lib/traces/for-others";
import { makeMask, type Mask, maskJson, maskPieces } from "#lib/traces/masked";
import { readParts, readPieces } from "#lib/traces/parts";
import { withPictures } from "#lib/traces/pictures";
import type { Message, TraceRow } from "#lib/traces/queries";
import { sendText } from "#lib/traces/sending";
import { usedTokens } from "#lib/traces/tokens";

/**
 * A trace as a Markdown document: its title and facts, then each message under a heading with role, time and position. Contents
 * are unchanged, metadata is JSON; one's own has links to its pictures. Parts are read as the client consumes them. The stream fails
 * where messages are missing: a part of a trace must not pass for the whole.
 *
 * @param masked what is hidden in it, where it is for others.
 * @throws SpoorError `overloaded` as `sendText`.
 */
export function markdownOf(userId: string, trace: TraceRow, masked?: Masked): Promise<ReadableStream<Uint8Array>> {
  return sendText(userId, "export", parts(userId, trace, makeMask(masked, readHiddenNames(trace))));
}

async function* parts(userId: string, trace: TraceRow, mask: Mask | undefined): AsyncGenerator<string, undefined> {
  yield mask ? mask(headMarkdown(trace)) : headMarkdown(trace);
  let sent = 0;
  for await (const { messages, isLong } of readParts(userId, trace.id)) {
    const [first] = messages;
    if (isLong && first) yield* longMarkdown(userId, trace.id, first, mask);
    else if (mask) yield (await allForOthers(messages, mask)).map(messageMarkdown).join("");
    else
      yield (await withPictures(userId, trace.id, messages))
        .map((one) => messageMarkdown(one) + pictureLinks(trace.id, one))
        .join("");
    sent += messages.length;
  }
  if (sent < trace.messageCount) throw new Error("a trace was deleted or shortened while it was exported");
}

/** The start of the document: the title, and a list of facts. */
export function headMarkdown(trace: TraceRow): string {
  const { source, sourceId, model, project, createdAt, activityAt, dated, messageCount } = trace;
  const tokens = usedTokens(trace, trace.tokenCount);
  const facts: [string, string | null | undefined][] = [
    ["Agent", source],
    ["Session", sourceId],
    ["Model", model],
    ["Project", project],
    ["Started", createdAt?.toISOString()],
    ["Last activity", dated ? activityAt.toISOString() : null],
    ["Messages", String(messageCount)],
    ["Tokens", tokens > 0 ? String(tokens) : null],
  ];
  const lines = facts.flatMap(([name, value]) => (value ? [`- ${name}: ${oneLine(value)}`] : []));
  return `# ${oneLine(titleOf(trace) ?? "Untitled session")}\n\n${lines.join("\n")}\n`;
}

/** One message under its heading. */
export function messageMarkdown(message: Message): string {
  const { content, metadata } = message;
  const body = content === "" ? "" : `\n${content.trimEnd()}\n`;
  return `${headingOf(message)}${body}${metadata ? `\n${fenced(readableJson(metadata))}\n` : ""}`;
}

/** Links to the pictures of a message, for whoever may read its trace. */
function pictureLinks(traceId: string, { pictures = [] }: Pick<ReaderMessage, "pictures">): string {
  const lines = pictures.flatMap(({ sha256, mediaType, bytes, isStored }, at) => {
    const words = `Picture ${at + 1} of ${pictures.length}, ${mediaType}, ${Math.ceil(bytes / 1024)} KiB`;
    return isStored ? [`- [${words}](${env().BASE_URL}/api/traces/${traceId}/pictures/${sha256})`] : [];
  });
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}

function headingOf({ position, role, createdAt }: Message): string {
  const facts = [role ?? "unknown", createdAt, `#${position}`];
  return `\n## ${oneLine(facts.filter(Boolean).join(" · "))}\n`;
}

/** The same of a long message. Its metadata is on one line, with escapes for backticks, which could end the fence. */
async function* longMarkdown(
  userId: string,
  traceId: string,
  message: Message,
  mask: Mask | undefined,
): AsyncGenerator<string, undefined> {
  const { position, metadata } = message;
  yield `${mask ? mask(headingOf(message)) : headingOf(message)}\n`;
  const content = readPieces(userId, traceId, position, "content");
  yield* mask ? maskPieces(content, mask) : content;
  yield "\n";
  if (!metadata) return;
  yield "\n```json\n";
  const json = readPieces(userId, traceId, position, "metadata");
  for await (const piece of mask ? [await maskJson(json, mask)] : json) yield piece.replaceAll("`", "\\u0060");
  yield "\n```\n";
}

/** JSON in a fence longer than any run of backticks in it (CommonMark 0.31, section 4.5). */
function fenced(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
