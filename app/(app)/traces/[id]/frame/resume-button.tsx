"use client";
import { useEffect, useRef, useState } from "react";
import { copyText } from "../../../../components/command";

const shownMs = 6000;

export function Resume({ command }: { command: string }) {
  const [said, setSaid] = useState<"Copied" | "Could not copy. The command is">();
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    setSaid((await copyText(command)) ? "Copied" : "Could not copy. The command is");
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setSaid(undefined), shownMs);
  };
  return (
    <span className="needs-script sm:relative">
      <button type="button" title={`Copies: ${command}`} onClick={copy} className="button button-accent">
        {said === "Copied" ? "Copied" : "Resume"}
      </button>
      <span role="status" className="contents">
        {said && (
          <span className="z-10 mt-1 block rounded-block border border-hairline bg-overlay p-3 shadow-lg sm:absolute sm:top-full sm:right-0 sm:w-96">
            <span className="block font-medium">{said === "Copied" ? "Copied: paste it in a terminal" : said}</span>
            <code className="block font-mono text-code [overflow-wrap:anywhere]">{command}</code>
          </span>
        )}
      </span>
    </span>
  );
}
