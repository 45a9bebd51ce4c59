import { limits } from "#lib/core/limits";
import { excerpt, named, quotation, shortened, shown } from "#lib/mcp/quote";
import type { Message } from "#lib/messages/schema";
import type { Call, MessagePiece, ToolResult } from "#lib/transcript/call";
import { splitPieces } from "#lib/transcript/kind";
import { readableJson } from "#lib/transcript/text";

/** `talk` names tools; `all` includes their input and output. */
export type TalkDetail = "talk" | "all";

const { messageCharacters } = limits.mcp;
/** Searching longer texts for secrets takes too long, and they are never shown. */
const maxScanned = 200_000;

/** Half a secret is not recognized, so this ends between words. */
function scanned(text: string): string {
  if (text.length <= maxScanned) return text;
  const end = Math.max(text.lastIndexOf(" ", maxScanned), text.lastIndexOf("\n", maxScanned));
  return text.slice(0, end > maxScanned / 2 ? end : 0).toWellFormed();
}

/** A block, or only the names of the tools that a message called. */
type TalkItem = { block: string } | { tools: string[] };

export function showMessage(message: Message, detail: TalkDetail): TalkItem | undefined {
  const { position, role, createdAt } = message;
  const pieces = splitPieces({ ...message, content: scanned(message.content) });
  const texts = pieces.map((piece) => formatText(piece, detail)).filter((text) => text !== "");
  const tools = pieces.flatMap((piece) => (piece.type === "call" ? toolName(piece.call, piece.result) : []));
  if (texts.length === 0) return tools.length > 0 ? { tools } : undefined;
  const facts = [`#${position}`, named(role ?? "unknown", 32), createdAt];
  const used = detail === "talk" && tools.length > 0 ? [`tools: ${tools.join(", ")}`] : [];
  return { block: [facts.filter(Boolean).join(" · "), ...texts, ...used].join("\n") };
}

function formatText(piece: MessagePiece, detail: TalkDetail): string {
  if (piece.type === "text" && piece.kind !== "thinking" && piece.kind !== "notice") return said(piece.text);
  if (detail === "talk") return "";
  if (piece.type === "call") return callText(piece.call, piece.result);
  return said(piece.type === "result" ? piece.result.output : piece.text);
}

/** One block for messages that only called tools. */
export const toolsBlock = (from: number, to: number, tools: string[]): string =>
  `#${from}${to > from ? ` to #${to}` : ""} · tools: ${tools.slice(0, 20).join(", ")}${tools.length > 20 ? `, and ${tools.length - 20} more` : ""}`;

const toolName = ({ name }: Call, result: ToolResult | undefined) =>
  `${named(name, 60)}${result?.failed ? " (failed)" : ""}`;

const said = (text: string) => (text.trim() === "" ? "" : quotation(shortened(shown(text), messageCharacters)));

function callText(call: Call, result: ToolResult | undefined): string {
  const input = scanned(readableJson(call.input, 1));
  const given = quotation(shortened(shown(input), messageCharacters / 2));
  return [`tool ${toolName(call, result)}`, given, result ? `its output:\n${said(result.output)}` : ""]
    .filter(Boolean)
    .join("\n");
}

export const saidIn = (message: Message): string =>
  splitPieces({ ...message, content: scanned(message.content) })
    .flatMap((piece) => (piece.type === "text" && piece.kind === "assistant" ? piece.text.trim() : []))
    .map((text) => shortened(shown(text), messageCharacters))
    .join("\n");

/** Masked first, since half a secret is not recognized. */
export const cutExcerpt = (
  { content }: Pick<Message, "content">,
  words: string[],
  length: number = limits.mcp.excerptCharacters,
) => excerpt(shownAround(content, words), words, length);

/** Near a cut nothing is shown; this is longer than a private key. */
const cutMargin = 10_000;
/** A longer message may have been cut when it was read. */
const surelyWhole = limits.traces.messagesPageBytes / 4;

function shownAround(content: string, words: string[]): string {
  if (content.length <= maxScanned) return shown(content);
  const lower = content.toLowerCase();
  const place = Math.max(0, ...words.map((word) => lower.indexOf(word.toLowerCase())));
  const from = Math.max(0, place - maxScanned / 2);
  const to = from + maxScanned;
  const text = shown(content.slice(from, to).toWellFormed());
  const isEnd = to >= content.length && content.length < surelyWhole;
  return text.slice(from > 0 ? cutMargin : 0, isEnd ? undefined : -cutMargin);
}
