import "server-only";
import { env } from "#lib/core/env";
import { usedTokens } from "#lib/core/fields";
import { sendText } from "#lib/http/send-stream";
import { allForOthers, readHiddenNames } from "#lib/masking/for-others";
import { type Mask, type MaskLevel, makeMask, maskJson, maskPieces } from "#lib/masking/mask-pieces";
import { readParts, readPieces } from "#lib/messages/message-parts";
import type { Message } from "#lib/messages/schema";
import { withPictures } from "#lib/traces/pictures";
import type { TraceRow } from "#lib/traces/queries";
import type { ReaderMessage } from "#lib/transcript/message";
import { readableJson } from "#lib/transcript/text";
import { getTitle } from "#lib/transcript/titles/choose-title";

/**
 * The stream fails if messages are missing, so that a part is not taken for the whole.
 * @throws SpoorError `overloaded` as `sendText`
 */
export function streamMarkdown(
  userId: string,
  trace: TraceRow,
  masked?: MaskLevel,
): Promise<ReadableStream<Uint8Array>> {
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
  return `# ${oneLine(getTitle(trace) ?? "Untitled session")}\n\n${lines.join("\n")}\n`;
}

export function messageMarkdown(message: Message): string {
  const { content, metadata } = message;
  const body = content === "" ? "" : `\n${content.trimEnd()}\n`;
  return `${formatHeading(message)}${body}${metadata ? `\n${makeFence(readableJson(metadata), "json")}\n` : ""}`;
}

function pictureLinks(traceId: string, { pictures = [] }: Pick<ReaderMessage, "pictures">): string {
  const lines = pictures.flatMap(({ sha256, mediaType, bytes, isStored }, at) => {
    const words = `Picture ${at + 1} of ${pictures.length}, ${mediaType}, ${Math.ceil(bytes / 1024)} KiB`;
    return isStored ? [`- [${words}](${env().BASE_URL}/api/traces/${traceId}/pictures/${sha256})`] : [];
  });
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}

function formatHeading({ position, role, createdAt }: Message): string {
  const facts = [role ?? "unknown", createdAt, `#${position}`];
  return `\n## ${oneLine(facts.filter(Boolean).join(" · "))}\n`;
}

/** Metadata is on one line with escaped backticks, which could end the fence. */
async function* longMarkdown(
  userId: string,
  traceId: string,
  message: Message,
  mask: Mask | undefined,
): AsyncGenerator<string, undefined> {
  const { position, metadata } = message;
  yield `${mask ? mask(formatHeading(message)) : formatHeading(message)}\n`;
  const content = readPieces(userId, traceId, position, "content");
  yield* mask ? maskPieces(content, mask) : content;
  yield "\n";
  if (!metadata) return;
  yield "\n```json\n";
  const json = readPieces(userId, traceId, position, "metadata");
  for await (const piece of mask ? [await maskJson(json, mask)] : json) yield piece.replaceAll("`", "\\u0060");
  yield "\n```\n";
}

/** Longer than any run of backticks in the text (CommonMark 0.31, section 4.5). */
export function makeFence(text: string, language: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${/^[\w+#.-]{1,32}$/.test(language) ? language : ""}\n${text.trimEnd()}\n${fence}`;
}

export const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
