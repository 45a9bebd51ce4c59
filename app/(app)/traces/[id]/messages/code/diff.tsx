import type { ReactNode } from "react";
import type { DiffLine } from "#lib/transcript/message";
import { cut, formatQuantity } from "#lib/transcript/text";
import type { Effort } from "../effort";
import { CodeLine } from "./code";
import { type CodeSpan, highlight } from "./highlight";
import { type Marks, markWords } from "./words";

const maxDrawnCharacters = 2000;
const context = { longest: 9, kept: 3 };

type Props = { lines: DiffLine[]; from?: number; to?: number; language: string; effort: Effort };

/** The style sheet draws signs and numbers, so that only code is copied. */
export function Diff({ lines, from = 0, to = lines.length, language, effort }: Props) {
  const drawn = drawnLines(lines.slice(from, to), numberLines(lines).slice(from, to), language, effort);
  return (
    <div className="code-block diff" data-block="">
      <pre>
        <code>{groupRuns(lines.slice(from, to)).map((run) => drawRun(run, drawn, run.from === 0))}</code>
      </pre>
    </div>
  );
}

type Run = { type: "hunk" | "same" | "pair"; from: number; to: number };

function groupRuns(lines: DiffLine[]): Run[] {
  const runs: Run[] = [];
  for (const [at, { type }] of lines.entries()) {
    const kind = type === "hunk" || type === "same" ? type : "pair";
    const last = runs.at(-1);
    const begins = kind === "pair" && type === "removed" && lines[at - 1]?.type === "added";
    if (last?.type === kind && kind !== "hunk" && !begins) last.to = at + 1;
    else runs.push({ type: kind, from: at, to: at + 1 });
  }
  return runs;
}

function drawRun({ type, from, to }: Run, drawn: ReactNode[], isFirst: boolean): ReactNode {
  const own = drawn.slice(from, to);
  if (type === "pair")
    return (
      <span key={from} className="pair">
        {own}
      </span>
    );
  if (type === "hunk" || own.length <= context.longest) return own;
  const head = isFirst ? 0 : context.kept;
  const hidden = own.slice(head, -context.kept);
  return [
    ...own.slice(0, head),
    <details key={`${from} fold`} className="more same" data-fold="">
      <summary>{formatQuantity(hidden.length, "unchanged line")}</summary>
      {hidden}
    </details>,
    ...own.slice(-context.kept),
  ];
}

function numberLines(lines: DiffLine[]): (number | undefined)[] {
  let next: [old: number, now: number] | undefined;
  return lines.map(({ type, at }) => {
    if (type === "hunk") next = at && [...at];
    if (!next || type === "hunk") return undefined;
    const number = type === "removed" ? next[0] : next[1];
    if (type !== "added") next[0] += 1;
    if (type !== "removed") next[1] += 1;
    return number;
  });
}

function drawnLines(lines: DiffLine[], numbers: (number | undefined)[], language: string, effort: Effort): ReactNode[] {
  const marks = markWords(lines);
  const colours = language ? colourLines(lines, language, effort) : [];
  return lines.map((line, at) => {
    const content = drawLineContent(line, colours[at], marks.get(at));
    // The first heading would only repeat the line numbers.
    if (at === 0 && line.type === "hunk" && line.text === "") return null;
    const Tag = tags[line.type];
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a drawn diff never changes its order
      <Tag key={at} data-n={numbers[at]} className={line.type === "hunk" ? "hunk" : undefined}>
        {content}
      </Tag>
    );
  });
}

const tags = { added: "ins", removed: "del", same: "span", hunk: "span" } as const;

function drawLineContent({ text }: DiffLine, colours: CodeSpan[] | undefined, marks: Marks | undefined): ReactNode {
  if (text.length > maxDrawnCharacters)
    return `${cut(text, maxDrawnCharacters)}… ${formatQuantity(text.length - maxDrawnCharacters, "more character")}\n`;
  const spans = colours ?? [{ text, className: "" }];
  if (!marks) return <CodeLine spans={spans} end={"\n"} />;
  return [
    ...marks.map(({ from, to, changed }) => {
      const part = <CodeLine key={from} spans={cutSpans(spans, from, to)} end="" />;
      return changed ? <b key={from}>{part}</b> : part;
    }),
    "\n",
  ];
}

function cutSpans(spans: CodeSpan[], from: number, to: number): CodeSpan[] {
  let at = 0;
  return spans.flatMap(({ text, className }) => {
    const own = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += text.length;
    return own === "" ? [] : [{ text: own, className }];
  });
}

function colourLines(lines: DiffLine[], language: string, effort: Effort): (CodeSpan[] | undefined)[] {
  const colours: (CodeSpan[] | undefined)[] = [];
  for (const run of splitHunks(lines)) {
    for (const side of ["removed", "added"] as const) {
      const own = run.filter((at) => lines[at]?.type === "same" || lines[at]?.type === side);
      if (!own.some((at) => lines[at]?.type === side)) continue;
      const found = highlight(own.map((at) => lines[at]?.text ?? "").join("\n"), language, effort);
      for (const [index, at] of own.entries()) colours[at] = found?.[index];
    }
  }
  return colours;
}

function splitHunks(lines: DiffLine[]): number[][] {
  const hunks: number[][] = [[]];
  for (const [at, { type }] of lines.entries())
    if (type === "hunk") hunks.push([]);
    else hunks.at(-1)?.push(at);
  return hunks;
}
