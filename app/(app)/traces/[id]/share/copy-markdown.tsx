"use client";
import { useState } from "react";

export function CopyMarkdown({ href }: { href: string }) {
  const [said, setSaid] = useState("Copy as Markdown");
  const copy = async () => {
    try {
      const answer = await fetch(href);
      if (!answer.ok) throw new Error(`the export answered ${answer.status}`);
      await navigator.clipboard.writeText(await answer.text());
      setSaid("Copied");
    } catch {
      setSaid("Could not copy");
    }
    setTimeout(() => setSaid("Copy as Markdown"), 2000);
  };
  return (
    <button type="button" onClick={copy} className="button needs-script">
      <span aria-live="polite">{said}</span>
    </button>
  );
}
