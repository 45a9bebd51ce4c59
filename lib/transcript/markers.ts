import type { Call, MessagePiece } from "#lib/transcript/call";
import { readFences, readTicks } from "#lib/transcript/fences";
import type { PartKind, ReaderMessage } from "#lib/transcript/message";
import { firstLine } from "#lib/transcript/text";
import { findToolKind } from "#lib/transcript/vocabulary";

const toolTag = /^<tool-use data-tool-type="([^"\n]{0,128})" data-tool-name="([^"\n]{0,128})">/;
const toolLine = /^Tool use: \*\*([^*\n]{1,128})\*\*([^\n]*)/;
const thinkTag = /^<(think|thinking)>/;
const transcriptHeading = /^_\*\*(?:Agent|User)[^*\n]{0,200}\*\*_[ \t]*$/m;
/** The heading of a sub-agent's message, which may occur alone. */
const sidechain = /^_\*\*(?:Agent|User) - sidechain[^*\n]{0,200}\*\*_[ \t]*(?:\n|$)/;
const seam = /\s*(?:$|---[ \t]*(?:\n|$)|_\*\*|<tool-use |<think)/y;

export function readMarkers(content: string): MessagePiece[] | undefined {
  const text = content.trimStart();
  if (toolTag.test(text) || thinkTag.test(text)) return readWrappers(text);
  const line = toolLine.exec(text);
  if (line) return [readTool(line[1] ?? "", undefined, line[2] ?? "", text.slice(line[0].length))];
  if (sidechain.test(text.slice(0, 300))) return [{ type: "transcript", text: withoutRule(text) }];
  return readEcho(text);
}

function readWrappers(content: string): MessagePiece[] {
  const pieces: MessagePiece[] = [];
  let rest = content;
  for (;;) {
    const tool = toolTag.exec(rest);
    const think = thinkTag.exec(rest);
    if (!tool && !think) break;
    const close = tool ? "</tool-use>" : `</${think?.[1]}>`;
    const end = findWrapperEnd(rest, close);
    const inner = rest.slice((tool ?? think)?.[0].length, end === -1 ? undefined : end);
    pieces.push(tool ? readToolTag(tool, inner) : readThinking(inner));
    rest = end === -1 ? "" : rest.slice(end + close.length).trimStart();
  }
  const text = withoutRule(rest);
  if (transcriptHeading.test(firstLine(text, 1000))) pieces.push({ type: "transcript", text });
  else if (text.trim() !== "") pieces.push({ type: "text", kind: "assistant", title: "", text });
  return pieces;
}

/** Tools print such wrappers too, so the closing tag before a seam wins over the first one. */
function findWrapperEnd(text: string, close: string): number {
  for (let at = text.indexOf(close); at !== -1; at = text.indexOf(close, at + 1)) {
    seam.lastIndex = at + close.length;
    if (seam.test(text)) return at;
  }
  return text.lastIndexOf(close);
}

function readToolTag([, type, name]: RegExpExecArray, inner: string): MessagePiece {
  const { summary, body } = unfold(inner);
  const rest = summary.replace(/^Tool use:\s*/, "").replace(/^\*\*[^*\n]*\*\*/, "");
  return readTool(name ?? "", type, rest, body);
}

function readThinking(inner: string): MessagePiece {
  const { body } = unfold(inner);
  return { type: "text", kind: "thinking", title: firstLine(body), text: body.trim() };
}

function unfold(inner: string): { summary: string; body: string } {
  let body = inner.trim();
  if (body.startsWith("<details>")) body = body.slice("<details>".length).trimStart();
  if (body.endsWith("</details>")) body = body.slice(0, -"</details>".length);
  if (!body.startsWith("<summary>")) return { summary: "", body };
  const end = body.indexOf("</summary>");
  if (end === -1) return { summary: "", body };
  return { summary: body.slice("<summary>".length, end).trim(), body: body.slice(end + "</summary>".length) };
}

export function withoutRule(text: string): string {
  const end = text.trimEnd();
  const before = end.endsWith("\n---") ? end.slice(0, -"\n---".length) : "";
  const line = before.lastIndexOf("\n");
  return line !== -1 && before.slice(line).trim() === "" ? before.trimEnd() : text;
}

function readTool(name: string, type: string | undefined, summary: string, body: string): MessagePiece {
  const kind = findToolKind(name, type);
  const single = kind === "read" || kind === "search" || kind === "web";
  const { before, fences, after } = readFences(body.trim(), single);
  const words = `${summary.replace(/^\s*•\s*/, " ").trim()}\n${before.replace(/^Result:$/m, "")}`.trim();
  const call: Call = { name, input: {}, ...(type && { type }) };
  const rest = (readers[kind] ?? readOther)(call, words, [...fences]);
  const output = [...rest.map(({ text }) => text), kind === "question" || kind === "plan" ? "" : after]
    .filter((text) => text.trim() !== "")
    .join("\n");
  return { type: "call", call, result: { output } };
}

type Fence = { language: string; text: string };
type ToolReader = (call: Call, words: string, fences: Fence[]) => Fence[];

const isDiff = ({ language }: Fence) => language === "diff" || language === "patch";

const readers: Partial<Record<PartKind, ToolReader>> = {
  shell: (call, words, fences) => {
    if (words.startsWith("**Input:**")) {
      const rest = readOther(call, words, fences);
      const { command } = call.input;
      if (typeof command === "string") call.input.command = command.replace(/^\[(?:ba|z)?sh -l?c (.*)\]$/, "$1");
      return rest;
    }
    const [first, ...rest] = fences;
    const scripted = first && /^(bash|sh|zsh|shell|powershell|pwsh|console)$/.test(first.language);
    const tick = words.indexOf("`");
    const quoted = tick === -1 ? "" : words.slice(tick + 1, words.lastIndexOf("`"));
    call.input = { command: scripted ? first.text : quoted, description: tick === -1 ? words : words.slice(0, tick) };
    return scripted ? rest : fences;
  },
  edit: (call, words, fences) => {
    const path = pathIn(words) ?? toldIn(fences.find((fence) => !isDiff(fence))?.text ?? "");
    call.input = {
      file_path: path,
      diff:
        fences
          .filter(isDiff)
          .map(({ text }) => text)
          .join("\n") || undefined,
    };
    return fences.filter((fence) => !isDiff(fence));
  },
  write: (call, words, fences) => {
    const [content, ...rest] = fences;
    call.input = { file_path: pathIn(words) ?? toldIn(rest[0]?.text ?? ""), content: content?.text };
    return rest;
  },
  read: (call, words, fences) => {
    call.input = { file_path: pathIn(words) ?? words.replace(/^[\w ]+: /, "") };
    return fences;
  },
  search: (call, words, fences) => {
    const ticks = readTicks(words);
    const labelled = Object.fromEntries(ticks.filter(({ label }) => label).map(({ label, value }) => [label, value]));
    call.input = { pattern: ticks.find(({ label }) => label !== "path")?.value ?? words, ...labelled };
    return fences;
  },
  web: (call, words, fences) => {
    const value = readTicks(words)[0]?.value ?? words;
    call.input = URL.canParse(value) ? { url: value } : { query: value };
    return fences;
  },
};

const readOther: ToolReader = (call, words, fences) => {
  const given = words.replace(/\*\*(?:Input|Result):\*\*/g, "").trim();
  const listed = [...given.matchAll(/^- (\w{1,64}): `([^\n]*)`$/gm)];
  call.input = listed.length > 0 ? Object.fromEntries(listed.map(([, key, value]) => [key, value])) : { text: given };
  return fences;
};

function pathIn(text: string): string | undefined {
  return pathTold(text) ?? readTicks(text)[0]?.value ?? named.exec(text)?.[1];
}

const named = /\b(?:The file|successfully at:?|file:|Updated|Wrote) (\/?[^\s`]+[^\s`.:,])/;
const told =
  /^(?:The file ([^\n`]{1,1024}?) has been (?:updated|modified|created|overwritten)|File created successfully at: ([^\n`]{1,1024}?)(?: \(file state|$))/m;

const toldIn = (output: string) => pathTold(output) ?? named.exec(output)?.[1];

/** Backticks in a tool's answer do not contain the file. */
function pathTold(text: string): string | undefined {
  const [, changed, created] = told.exec(text.slice(0, 4000)) ?? [];
  return changed ?? created;
}

const commandEcho = /^<(command-name|command-message)>/;

function readEcho(text: string): MessagePiece[] | undefined {
  if (commandEcho.test(text)) {
    const name = tagged(text, "command-name") ?? `/${tagged(text, "command-message") ?? ""}`;
    const given = tagged(text, "command-args") ?? "";
    return [
      {
        ...{ type: "text", kind: "command", title: firstLine(`${name} ${given}`) },
        ...{ text: given.includes("\n") ? given : "", own: text.startsWith("<command-message>") },
      },
    ];
  }
  const printed = /^<(?:local-command-std(?:out|err)|bash-std(?:out|err))>/.exec(text);
  if (printed)
    return [{ type: "output", text: text.replace(/<\/?(?:local-command|bash)-std(?:out|err)>/g, "").trim() }];
  const typed = tagged(text, "bash-input");
  if (typed !== undefined && text.startsWith("<bash-input>"))
    return [{ type: "text", kind: "command", title: firstLine(`! ${typed}`), text: "" }];
  return readNotice(text);
}

const noticeTags =
  /^<(local-command-caveat|task-notification|system-reminder|environment_context|environment_details|user_instructions|turn_aborted|permissions instructions|ide_[a-z_]{1,32})>/;
const noticeText =
  /^(?:\[Request interrupted by user|Caveat: The messages below were generated|This session is being continued from a previous conversation|# AGENTS\.md instructions for )/;

/** @returns undefined for any other text */
export function readNotice(text: string): MessagePiece[] | undefined {
  const tag = noticeTags.exec(text)?.[1];
  if (!tag && !noticeText.test(text)) return undefined;
  const summary =
    tag && (tagged(text, "summary") ?? `${tag.replace(/[-_]/g, " ")}: ${firstLine(tagged(text, tag) ?? "")}`);
  const title = firstLine(summary || text.replace(/^\[(.*)\]/, "$1"));
  return [{ type: "text", kind: "notice", title, text: (tag && tagged(text, "result")) || text }];
}

function tagged(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`);
  if (start === -1) return undefined;
  const from = start + tag.length + 2;
  const end = text.indexOf(`</${tag}>`, from);
  return text.slice(from, end === -1 ? undefined : end).trim();
}

const heading = /^_\*\*(Agent|User)[^*\n]{0,200}\*\*_[ \t]*$/gm;
const moment = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?Z/;

/** Exporters head a sub-agent's messages with lines such as `_**Agent - sidechain (model time)**_`. */
export function readTranscript(text: string): ReaderMessage[] {
  const headings = [...text.matchAll(heading)];
  return headings.map((found, index) => {
    const from = found.index + found[0].length;
    const [, day, clock] = moment.exec(found[0]) ?? [];
    const createdAt = day && clock ? new Date(`${day}T${clock}Z`) : undefined;
    return {
      position: index,
      role: found[1] === "User" ? "user" : "assistant",
      content: text.slice(from, headings[index + 1]?.index).trim(),
      tokenCount: null,
      createdAt: createdAt && !Number.isNaN(createdAt.getTime()) ? createdAt.toISOString() : null,
      metadata: null,
    };
  });
}
