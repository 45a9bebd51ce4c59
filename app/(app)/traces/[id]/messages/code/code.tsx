import type { Effort } from "../effort";
import { colours, coloursAfter, controlStart } from "./ansi";
import { type CodeSpan, highlight } from "./highlight";

type CodeProps = {
  text: string;
  language: string;
  label?: string | undefined;
  /** The first line's number, if lines are numbered. */
  first?: number | undefined;
  effort: Effort;
};

export function CodeBlock({ text, language, label, first, effort }: CodeProps) {
  const lines = language ? highlight(text, language, effort) : undefined;
  return (
    <div className={first === undefined ? "code-block" : "code-block numbered"} data-block="">
      {label && <span className="code-label">{label}</span>}
      <CopyBlock />
      <pre>
        <code>
          {first !== undefined ? (
            <NumberedLines lines={lines ?? plainLines(text)} first={first} />
          ) : lines ? (
            <Lines lines={lines} />
          ) : (
            text
          )}
        </code>
      </pre>
    </div>
  );
}

const plainLines = (text: string): CodeSpan[][] => text.split("\n").map((line) => [{ text: line, className: "" }]);

/** The style sheet draws the numbers, so that only code is copied. */
function NumberedLines({ lines, first }: { lines: CodeSpan[][]; first: number }) {
  return lines.map((spans, line) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a drawn text never changes its order
    <span key={line} data-n={first + line}>
      <CodeLine spans={spans} end={line < lines.length - 1 ? "\n" : ""} />
    </span>
  ));
}

/** @param before earlier output, whose colours may continue */
export function Output({ text, before = "", effort }: { text: string; before?: string; effort: Effort }) {
  const plain = coloursAfter(before) + printable(text).replaceAll(`${controlStart}[m`, `${controlStart}[0m`);
  const lines = plain.includes(controlStart) ? highlight(plain, "ansi", effort) : undefined;
  return (
    <div className="code-block output" data-block="">
      <CopyBlock />
      <pre>
        <code>{lines ? <Lines lines={lines} /> : plain.replace(colours, "")}</code>
      </pre>
    </div>
  );
}

function CopyBlock() {
  return (
    <button type="button" className="copy" data-copy="block" aria-label="Copy this block">
      Copy
    </button>
  );
}

function Lines({ lines }: { lines: CodeSpan[][] }) {
  return lines.map((spans, line) => {
    const end = line < lines.length - 1 ? "\n" : "";
    // biome-ignore lint/suspicious/noArrayIndexKey: a drawn text never changes its order
    return <CodeLine key={line} spans={spans} end={end} />;
  });
}

export function CodeLine({ spans, end }: { spans: CodeSpan[]; end: string }) {
  return (
    <>
      {spans.map(({ text, className }, index) =>
        className === "" ? (
          text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a drawn text never changes its order
          <i key={index} className={className}>
            {text}
          </i>
        ),
      )}
      {end}
    </>
  );
}

const movements = new RegExp(
  `${controlStart}(?:\\[[0-9;?<=>]*[@-ln-~]|\\][^\\u0007${controlStart}\\n]{0,2000}(?:\\u0007|${controlStart}\\\\)|[()][0-9A-B]|[=>78])`,
  "g",
);

function printable(text: string): string {
  const still = text.includes(controlStart) ? text.replace(movements, "") : text;
  if (!still.includes("\r")) return still;
  return still
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => (line.includes("\r") ? (line.split("\r").findLast((part) => part !== "") ?? "") : line))
    .join("\n");
}
