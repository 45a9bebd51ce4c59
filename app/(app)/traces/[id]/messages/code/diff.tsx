import { diffWordsWithSpace } from "diff";
import { Fragment } from "react";
import type { DiffLine } from "#lib/reader/message";
import { countOf, cut } from "#lib/reader/text";

type Word = { text: string; changed: boolean };

/** Bounds of comparing word by word: pairs of lines in a block, and the length of a line. */
const comparable = { pairs: 100, lineLength: 300 };

/** How many characters of a line are drawn. */
const maxDrawnCharacters = 2000;

/** Lines of a unified diff. Signs and marks are drawn by the stylesheet, so that what is copied is the code alone. */
export function Diff({ lines }: { lines: DiffLine[] }) {
  const words = markWords(lines);
  return (
    <div className="code-block diff" data-block="">
      <pre>
        <code>
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a drawn diff never changes its order
            <Line key={index} line={line} words={words.get(index)} />
          ))}
        </code>
      </pre>
    </div>
  );
}

function Line({ line: { type, text }, words }: { line: DiffLine; words: Word[] | undefined }) {
  const content = words
    ? words.map(({ text: word, changed }, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: a drawn line never changes its order
        changed ? <b key={index}>{word}</b> : <Fragment key={index}>{word}</Fragment>,
      )
    : text.length <= maxDrawnCharacters
      ? text
      : `${cut(text, maxDrawnCharacters)}… ${countOf(text.length - maxDrawnCharacters, "more character")}`;
  if (type === "added")
    return (
      <ins className="diff-line">
        {content}
        {"\n"}
      </ins>
    );
  if (type === "removed")
    return (
      <del className="diff-line">
        {content}
        {"\n"}
      </del>
    );
  return (
    <span className={type === "hunk" ? "diff-line diff-hunk" : "diff-line"}>
      {content}
      {"\n"}
    </span>
  );
}

/** The words that differ, by the lines' indices, where as many lines were added as removed. */
function markWords(lines: DiffLine[]): Map<number, Word[]> {
  const marked = new Map<number, Word[]>();
  let pairs = 0;
  for (let at = 0; at < lines.length && pairs < comparable.pairs; at += 1) {
    const removed = runLength(lines, at, "removed");
    if (removed === 0) continue;
    const added = runLength(lines, at + removed, "added");
    for (let index = 0; removed === added && index < removed && pairs < comparable.pairs; index += 1) {
      pairs += 1;
      markPair(lines, at + index, at + removed + index, marked);
    }
    at += removed + added - 1;
  }
  return marked;
}

function runLength(lines: DiffLine[], from: number, type: DiffLine["type"]): number {
  let at = from;
  while (lines[at]?.type === type) at += 1;
  return at - from;
}

/** Two lines with almost nothing in common stay unmarked: all of both would be marked. */
function markPair(lines: DiffLine[], before: number, after: number, marked: Map<number, Word[]>): void {
  const [old = "", now = ""] = [lines[before]?.text, lines[after]?.text];
  if (old.length > comparable.lineLength || now.length > comparable.lineLength) return;
  const words = diffWordsWithSpace(old, now, { maxEditLength: 200 });
  const same = words?.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length), 0);
  if (!words || same === undefined || same * 3 < Math.max(old.trim().length, now.trim().length)) return;
  marked.set(
    before,
    words.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, changed: removed })),
  );
  marked.set(
    after,
    words.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, changed: added })),
  );
}
