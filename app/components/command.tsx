"use client";
import { useEffect, useState } from "react";

export async function copyText(text: string): Promise<boolean> {
  const copying = navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  return (await copying) ?? false;
}

/** Shown only if the browser can copy: with script, on https or localhost. */
function CopyButton({ text }: { text: string }) {
  const [state, setState] = useState<"unable" | "ready" | "copied">("unable");
  useEffect(() => {
    if (navigator.clipboard) setState("ready");
  }, []);
  if (state === "unable") return null;
  const copy = async () => {
    if (!(await copyText(text))) return;
    setState("copied");
    setTimeout(() => setState("ready"), 2000);
  };
  return (
    <button
      type="button"
      onClick={copy}
      className="absolute top-1.5 right-1.5 rounded-control border border-hairline bg-overlay px-2 py-0.5 text-meta text-muted hover:text-text pointer-coarse:min-h-11 pointer-coarse:min-w-11"
    >
      <span aria-live="polite">{state === "copied" ? "Copied" : "Copy"}</span>
    </button>
  );
}

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
