import { CopyButton } from "./copy-button";

/** A command to copy into a terminal. */
export function Command({ text }: { text: string }) {
  return (
    <div className="relative">
      <pre className="whitespace-pre-wrap rounded-block border border-hairline bg-block py-2 pr-16 pl-3 font-mono text-code [overflow-wrap:anywhere]">
        {text}
      </pre>
      <CopyButton text={text} />
    </div>
  );
}
