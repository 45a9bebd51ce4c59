import { Fragment, type ReactNode } from "react";
import { type Stretch, splitStretches } from "#lib/transcript/said";
import { CodeBlock, Output } from "../code/code";
import type { Effort } from "../effort";
import { safeHref } from "./markdown-rules";

export function Said({ text, effort }: { text: string; effort: Effort }) {
  return (
    <div className="said">
      {splitStretches(text).map((stretch, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a stored text never changes its order
        <One key={index} stretch={stretch} effort={effort} />
      ))}
    </div>
  );
}

function One({ stretch: { type, text, language = "" }, effort }: { stretch: Stretch; effort: Effort }) {
  switch (type) {
    case "code":
      return <CodeBlock text={text} language={language} effort={effort} />;
    case "paste":
      return <Output text={text} effort={effort} />;
    case "diff":
      return <CodeBlock text={text} language="diff" effort={effort} />;
    case "words":
      return <p>{drawInline(text.replace(/^\n+/, "").trimEnd())}</p>;
  }
}

const inline = /`([^`\n]{1,500})`|\bhttps?:\/\/[^\s<>"'`]{1,2000}/g;

function drawInline(text: string): ReactNode[] {
  const nodes: ReactNode[] = [];
  let from = 0;
  for (const { 0: whole, 1: code, index } of text.matchAll(inline)) {
    const address = code === undefined ? whole.replace(/[.,;:!?)\]}]+$/, "") : "";
    const safe = safeHref(address);
    if (code === undefined && safe === undefined) continue;
    nodes.push(<Fragment key={from}>{text.slice(from, index)}</Fragment>);
    nodes.push(
      code === undefined ? (
        <a key={index} href={safe} rel="noopener noreferrer nofollow" className="link">
          {address}
        </a>
      ) : (
        <code key={index}>{code}</code>
      ),
    );
    from = index + (code === undefined ? address : whole).length;
  }
  return [...nodes, text.slice(from)];
}
