import { findLanguage } from "#lib/transcript/vocabulary";

export type Stretch = { type: "words" | "paste" | "code" | "diff"; text: string; language?: string };

const heading = /^#{1,4} \S/;
const listItem = /^\s{0,6}(?:[-*+]|\d{1,3}[.)]) +\S/;
const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]{0,32})[^\n`]*$/;
const tableRule = /^\s*\|?\s*:?-+:?\s*\|[\s:|-]*$/;

/** A longer text is treated as one kind throughout. */
const maxLooked = 40_000;

/** A single `#` line is more often a comment, and people's line breaks matter. */
export function isPlainlyMarkdown(text: string): boolean {
  const lines = text.slice(0, maxLooked).split("\n");
  const seen = { headings: 0, items: 0, fences: 0, tables: 0 };
  let open = "";
  for (const [at, line] of lines.entries()) {
    const mark = fence.exec(line)?.[1] ?? "";
    if (mark && (open === "" || mark.startsWith(open))) {
      open = open === "" ? mark : "";
      seen.fences += 1;
    } else if (open !== "") continue;
    else if (heading.test(line) && standsAlone(lines, at)) seen.headings += 1;
    else if (listItem.test(line)) seen.items += 1;
    else if (tableRule.test(line.slice(0, 500)) && lines[at - 1]?.includes("|")) seen.tables += 1;
  }
  if (seen.tables > 0) return true;
  if (seen.headings === 0) return false;
  // Each fence is two lines: one code block below a # line is not enough for a document.
  return seen.headings > 1 || seen.items > 2 || seen.fences > 2;
}

function standsAlone(lines: string[], at: number): boolean {
  const [before = "", after = ""] = [lines[at - 1], lines[at + 1]];
  return before.trim() === "" && (after.trim() === "" || listItem.test(after) || fence.test(after));
}

/** The stretches add up to the text. */
export function splitStretches(text: string): Stretch[] {
  const stretches: Stretch[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; ) {
    const next = fenced(lines, at) ?? pasted(lines, at);
    const end = next?.end ?? at + 1;
    const part = next?.stretch ?? { type: "words", text: lines[at] ?? "" };
    const last = stretches.at(-1);
    if (last?.type === "words" && part.type === "words") last.text += `\n${part.text}`;
    else stretches.push({ ...part });
    at = end;
  }
  return stretches.filter((one) => one.type !== "words" || one.text.trim() !== "");
}

type FoundStretch = { stretch: Stretch; end: number };

function fenced(lines: string[], at: number): FoundStretch | undefined {
  const [, mark, name = ""] = fence.exec(lines[at] ?? "") ?? [];
  if (!mark) return undefined;
  let end = at + 1;
  while (
    end < lines.length &&
    !((lines[end] ?? "").trim().startsWith(mark) && fence.exec(lines[end] ?? "")?.[2] === "")
  )
    end += 1;
  if (end === lines.length && end - at > 200) return undefined;
  const text = lines.slice(at + 1, end).join("\n");
  const language = findLanguage(name);
  const stretch: Stretch = language === "diff" ? { type: "diff", text } : { type: "code", text, language };
  return { stretch, end: Math.min(lines.length, end + 1) };
}

function pasted(lines: string[], at: number): FoundStretch | undefined {
  if (!isPrinted(lines[at] ?? "")) return undefined;
  let last = at;
  let printed = 0;
  for (let next = at; next < lines.length && next - last <= 2; next += 1) {
    if (!isPrinted(lines[next] ?? "")) continue;
    printed += 1;
    last = next;
  }
  if (printed < minPrinted) return undefined;
  const text = lines.slice(at, last + 1).join("\n");
  return { stretch: { type: isDiff(text) ? "diff" : "paste", text }, end: last + 1 };
}

/** Fewer lines with that look are a person's own words. */
const minPrinted = 3;

const isPrinted = (line: string): boolean =>
  looks.some((look) => look.test(line.slice(0, 400))) && !listItem.test(line.replace(/^[+-] /, "- "));

const looks = [
  /^(?:\t| {2,})\S/,
  /\S(?:\t| {3,})\S/,
  /[│├└┌┐┘─━═║▶►✓✔✗✘✖]/,
  /(?:^|[\s('"])[\w./@-]+\.\w{1,6}:\d+/,
  /^\W{0,2}\d{1,4}[-:/]\d{2}[-:/.]\d{2}/,
  /^(?:===|---|\+\+\+|>>>|@@|\$|%|>|#!)[ \w/@-]*/,
  /^(?:diff --git|index [0-9a-f]{7}|Error|error|warning|FAIL|PASS|ok\s|at |Traceback|panic|npm |go: )/,
  /[;{}[\],]\s*$|^[}\])]/,
  /^[\w.-]+(?:\[\d+\])?: \S/,
  /^[+-]\s*\S.*[;{}()=]/,
];

const isDiff = (text: string): boolean => /^(?:diff --git |@@ -\d+(?:,\d+)? \+\d+)/m.test(text);
