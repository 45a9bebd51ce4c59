import type { Message } from "#lib/traces/queries";
import { countOf, formatBytes, formatCount } from "../../../components/figures";
import { Time } from "../../../components/time";
import { foldLongText } from "./fold";
import { Metadata } from "./metadata";

const inks: Record<string, string> = {
  user: "text-accent",
  assistant: "text-text",
  tool: "text-tool",
  system: "text-muted",
};

/** One message as plain text. */
export function MessageView({ message }: { message: Message }) {
  const { position, role, tokenCount, createdAt, metadata } = message;
  const anchor = `m${position}`;
  return (
    <li
      id={anchor}
      className={`scroll-mt-16 rounded-block border-l-2 px-4 py-3 target:outline-2 target:outline-accent ${
        role === "user" ? "border-accent bg-tint" : "border-hairline"
      }`}
    >
      <div className="flex flex-wrap items-baseline gap-x-3 pb-1 text-meta text-muted">
        <span className={`font-semibold text-code ${inks[role ?? ""] ?? "text-muted"}`}>{role ?? "unknown"}</span>
        {createdAt && <Time at={createdAt} as="moment" />}
        {tokenCount !== null && <span>{countOf(tokenCount, "token")}</span>}
        <a href={`#${anchor}`} title={`Link to position ${position}`} className="quiet-link ml-auto">
          #{position}
        </a>
      </div>
      <Content text={message.content} mono={role === "tool"} />
      {metadata && (
        <div className="pt-2">
          <Metadata value={metadata} />
        </div>
      )}
    </li>
  );
}

function Content({ text, mono }: { text: string; mono: boolean }) {
  if (text === "") return <p className="text-muted italic">empty</p>;
  const { head, rest } = foldLongText(text);
  const look = `whitespace-pre-wrap [overflow-wrap:anywhere] ${mono ? "font-mono text-code" : "max-w-[72ch] text-prose"}`;
  return (
    <>
      <div className={look}>{head}</div>
      {rest && (
        <details className="pt-1">
          <summary className="text-accent text-code">
            {rest.lines > 1 ? `${formatCount(rest.lines)} more lines` : "The rest of the line"},{" "}
            {formatBytes(Buffer.byteLength(rest.text))}
          </summary>
          <div className={look}>{rest.text}</div>
        </details>
      )}
    </>
  );
}
