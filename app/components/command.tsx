import { commandStyle } from "./command-style";
import { CopyButton } from "./copy-button";

export function Command({ text }: { text: string }) {
  return (
    <div className="relative">
      <pre className={commandStyle}>{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}
