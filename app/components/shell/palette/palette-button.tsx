"use client";
import { lazy, Suspense, useEffect, useState } from "react";

/** Loaded on first use, since most pages are read without it. */
const Palette = lazy(() => import("./palette").then((module) => ({ default: module.Palette })));

/** On the server nobody's keyboard is known. */
export function useCommandKey(): "Ctrl" | "⌘" {
  const [key, setKey] = useState<"Ctrl" | "⌘">("Ctrl");
  useEffect(() => {
    if (/Mac|iPhone|iPad/.test(navigator.platform)) setKey("⌘");
  }, []);
  return key;
}

const opens = "[data-opens-palette]";

export const openPalette = () => document.querySelector<HTMLElement>(opens)?.click();

type Props = { className: string; hasHint?: boolean };

export function PaletteButton({ className, hasHint = false }: Props) {
  const [isOpen, setOpen] = useState<boolean>(); // undefined until first opened
  const command = useCommandKey();
  useEffect(() => {
    if (!hasHint) return;
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
        data-opens-palette=""
        aria-haspopup="dialog"
        aria-keyshortcuts={hasHint ? "Control+K Meta+K" : undefined}
        onClick={() => setOpen(true)}
        className={className}
      >
        Go to…
        {hasHint && (
          <span aria-hidden="true" className="key max-lg:hidden pointer-coarse:hidden">
            {command === "⌘" ? "⌘K" : "Ctrl K"}
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
