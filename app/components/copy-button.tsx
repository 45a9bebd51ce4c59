"use client";
import { useEffect, useState } from "react";

/** Copies a text; shown only where the browser can (with script, on https or localhost). */
export function CopyButton({ text }: { text: string }) {
  const [state, setState] = useState<"unable" | "ready" | "copied">("unable");
  useEffect(() => {
    if (navigator.clipboard) setState("ready");
  }, []);
  if (state === "unable") return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
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
