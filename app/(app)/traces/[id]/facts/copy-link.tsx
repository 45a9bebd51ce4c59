"use client";
import { useState } from "react";
import { copyText } from "../../../../components/command";

const shownMs = 2000;

export function CopyLink({ path }: { path: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    setSaid((await copyText(new URL(path, location.href).href)) ? "Copied" : "Could not copy");
    setTimeout(() => setSaid(""), shownMs);
  };
  return (
    <button
      type="button"
      title="Copy link"
      data-command="Copy link"
      onClick={copy}
      className="icon-button needs-script"
    >
      <span className={`${said === "Copied" ? "i-lucide-check text-ok" : "i-lucide-link"} size-4`} />
      <span className="sr-only" aria-live="polite">
        {said || "Copy link"}
      </span>
    </button>
  );
}
