"use client";
import { useEffect, useState } from "react";
import { commandStyle, copyStyle } from "./command-text";

/** @returns whether it was copied */
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
    <button type="button" onClick={copy} className={copyStyle}>
      <span aria-live="polite">{state === "copied" ? "Copied" : "Copy"}</span>
    </button>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <div className="relative">
      <pre className={commandStyle}>{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}
