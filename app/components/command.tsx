import { commandStyle } from "./command-style";
import { CopyButton } from "./copy-button";

/** A command to copy into a terminal. */
export function Command({ text }: { text: string }) {
  return (
    <div className="relative">
      <pre className={commandStyle}>{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}
