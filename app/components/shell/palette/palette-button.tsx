"use client";
import { lazy, Suspense, useEffect, useState } from "react";

/** Loaded on first use, since most pages are read without it. */
const Palette = lazy(() => import("./palette").then((module) => ({ default: module.Palette })));

const hasCommandKey = () => /Mac|iPhone|iPad/.test(navigator.platform);

type Props = { className: string; hasHint?: boolean };

export function PaletteButton({ className, hasHint = false }: Props) {
  const [isOpen, setOpen] = useState<boolean>(); // undefined until first opened
  const [hint, setHint] = useState("Ctrl K");
  useEffect(() => {
    if (!hasHint) return;
    if (hasCommandKey()) setHint("⌘K");
    const onKey = (event: KeyboardEvent) => {
      const isOurs =
        event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (!isOurs || event.isComposing || document.querySelector("dialog[open]")) return;
      event.preventDefault(); // some browsers focus their own search
      setOpen((open) => !open);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [hasHint]);
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-keyshortcuts={hasHint ? "Control+K Meta+K" : undefined}
        onClick={() => setOpen(true)}
        className={className}
      >
        Go to…
        {hasHint && (
          <span aria-hidden="true" className="key max-lg:hidden pointer-coarse:hidden">
            {hint}
          </span>
        )}
      </button>
      {isOpen !== undefined && (
        <Suspense>
          <Palette isOpen={isOpen} onOpenChange={setOpen} />
        </Suspense>
      )}
    </>
  );
}
