import "server-only";
import { forOthers, readHiddenNames, type Sharing } from "#lib/masking/for-others";
import { makeHider } from "#lib/masking/mask-pieces";
import { visitMessages } from "#lib/messages/read-messages";
import type { Message } from "#lib/messages/schema";
import { makeFence, oneLine } from "#lib/traces/export/markdown";
import type { TraceRow } from "#lib/traces/queries";
import { getTitleForOthers } from "#lib/traces/title-for-others";
import type { Block, ReaderRow, RowPart } from "#lib/transcript/message";
import { makeRows } from "#lib/transcript/rows";
import { cut } from "#lib/transcript/text";

/** GitHub allows 65,536 characters; this leaves space for a title and a remark. */
const maxCharacters = 60_000;
/** More than fits. */
const maxRead = { messages: 3000, bytes: 8 * 1024 * 1024 };
const page = { limit: 500, maxBytes: 1024 * 1024, maxMessageBytes: 1024 * 1024 };
const maxBlock = 2000;

/**
 * Markdown for a GitHub comment: full texts, folded tools, no thoughts, no mentions (`@name`), and a remark if it was
 * cut.
 */
export async function githubMarkdown(userId: string, trace: TraceRow, sharing: Sharing): Promise<string> {
  const { messages, isCut } = await read(userId, trace, sharing);
  let text = `### ${unnamed(oneLine(await getTitleForOthers(userId, trace, sharing)))}\n`;
  const rows = makeRows(messages).flatMap((row) => (row.kind === "group" ? row.members : [row]));
  for (const [index, row] of rows.entries()) {
    const next = rowMarkdown(row);
    if (text.length + next.length > maxCharacters)
      return `${text}\n_${rows.length - index} more entries are omitted._\n`;
    text += next;
  }
  return isCut ? `${text}\n_The rest of the session is omitted._\n` : text;
}

async function read(userId: string, trace: TraceRow, { masked, ...range }: Sharing) {
  const messages: Message[] = [];
  const hide = makeHider(readHiddenNames(trace));
  let [bytes, isCut] = [0, false];
  await visitMessages(userId, trace.id, range, page, (message) => {
    isCut = messages.length >= maxRead.messages || bytes >= maxRead.bytes;
    if (isCut) return false;
    messages.push(masked ? forOthers(message, hide) : message);
    bytes += message.content.length;
  });
  return { messages, isCut };
}

function rowMarkdown({ parts }: ReaderRow): string {
  return parts
    .map(partMarkdown)
    .filter(Boolean)
    .map((text) => `\n${text}\n`)
    .join("");
}

const spoken = new Set<RowPart["kind"]>(["user", "assistant", "question", "plan", "tasks"]);

function partMarkdown({ kind, title, status, exitCode, blocks }: RowPart): string {
  if (kind === "thinking") return "";
  const body = blocks
    .map((block) => blockMarkdown(block, spoken.has(kind)))
    .filter(Boolean)
    .join("\n\n");
  if (kind === "user") return `**User:**\n\n${quoted(body)}`;
  if (kind === "assistant") return body;
  if (spoken.has(kind)) return [title && `**${unnamed(oneLine(title))}**`, body].filter(Boolean).join("\n\n");
  const outcome = status === "failed" ? ` — failed${exitCode ? ` (exit ${exitCode})` : ""}` : "";
  const summary = `${kind}: ${escaped(oneLine(cut(title, 300)))}${outcome}`;
  return body ? `<details><summary>${summary}</summary>\n\n${body}\n\n</details>` : `<sub>${summary}</sub>`;
}

function blockMarkdown(block: Block, isSpoken: boolean): string {
  switch (block.type) {
    case "markdown":
      return isSpoken ? unnamed(block.text.trim()) : unnamed(short(block.text.trim()));
    case "said":
      return unnamed(block.text.trim());
    case "image":
      return `_${escaped(oneLine(block.label)) || "an image"}_`;
    case "code":
      return makeFence(short(block.text), block.language);
    case "output":
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal
      return makeFence(short(block.text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "")), "text");
    case "diff": {
      const signs = { added: "+", removed: "-", same: " ", hunk: "" };
      return makeFence(short(block.lines.map(({ type, text }) => signs[type] + text).join("\n")), "diff");
    }
    case "tasks":
      return block.items
        .map(({ state, text }) => `- [${state === "done" ? "x" : " "}] ${unnamed(oneLine(text))}`)
        .join("\n");
    case "pictures": // strangers get the lines that stand for them
      return "";
    case "transcript":
      return `_${block.messages.length} messages of a sub-agent_`;
  }
}

const short = (text: string) =>
  text.length <= maxBlock
    ? text
    : `${cut(text, maxBlock)}\n… ${(text.length - maxBlock).toLocaleString("en")} more characters`;

const quoted = (text: string) =>
  text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");

/** Breaks mentions outside code, which would notify people. */
function unnamed(text: string): string {
  let fence = "";
  return text
    .split("\n")
    .map((line) => {
      const [, mark = ""] = /^[ \t>]*(`{3,}|~{3,})/.exec(line) ?? [];
      if (mark && (fence === "" || mark.startsWith(fence))) {
        fence = fence === "" ? mark : "";
        return line;
      }
      if (fence !== "") return line;
      return line.replace(/(`+[^`\n]*`+)|(?<![\w.])@(?=[A-Za-z0-9])/g, (found, code) => (code ? found : "@<!-- -->"));
    })
    .join("\n");
}

const escaped = (text: string) =>
  unnamed(text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"));
