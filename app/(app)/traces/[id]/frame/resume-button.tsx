"use client";
import { useCallback, useEffect, useRef, useState } from "react";
import { copyText } from "../../../../components/command";
import type { ResumeWay } from "../facts/resume";

const shownMs = 6000;

type Said = { command: string; isCopied: boolean };

/** The button copies the first way's command, and then shows the others. */
export function Resume({ ways }: { ways: ResumeWay[] }) {
  const [said, setSaid] = useState<Said>();
  const timer = useRef(0);
  const close = useCallback(() => setSaid(undefined), []);
  useEffect(() => () => clearTimeout(timer.current), []);
  const [first, ...others] = ways;
  const place = useLeaving(said !== undefined && others.length > 0, close);
  if (!first) return null;
  const copy = async (command: string) => {
    setSaid({ command, isCopied: await copyText(command) });
    clearTimeout(timer.current);
    if (others.length === 0) timer.current = window.setTimeout(close, shownMs);
  };
  return (
    <span ref={place} className="needs-script sm:relative">
      <button
        type="button"
        title={`Copies: ${first.command}`}
        onClick={() => copy(first.command)}
        className="button button-accent"
      >
        {said?.isCopied ? "Copied" : "Resume"}
      </button>
      <span role="status" className="contents">
        {said && (
          <span className={panelLook}>
            <span className="block font-medium">
              {said.isCopied ? "Copied: paste it in a terminal" : "Could not copy. The command is"}
            </span>
            <code className="block font-mono text-code [overflow-wrap:anywhere]">{said.command}</code>
            {others.length > 0 && <Ways ways={ways.filter(({ command }) => command !== said.command)} onCopy={copy} />}
          </span>
        )}
      </span>
    </span>
  );
}

function useLeaving(isOpen: boolean, close: () => void) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: KeyboardEvent | PointerEvent) => {
      const isOutside = !(event.target instanceof Node && place.current?.contains(event.target));
      if (event instanceof KeyboardEvent ? event.key === "Escape" : isOutside) close();
    };
    document.addEventListener("keydown", leave);
    document.addEventListener("pointerdown", leave);
    return () => {
      document.removeEventListener("keydown", leave);
      document.removeEventListener("pointerdown", leave);
    };
  }, [isOpen, close]);
  return place;
}

const panelLook =
  "z-10 mt-1 block rounded-block border border-hairline bg-overlay p-3 shadow-lg sm:absolute sm:top-full sm:right-0 sm:w-96";

function Ways({ ways, onCopy }: { ways: ResumeWay[]; onCopy: (command: string) => void }) {
  return (
    <span className="mt-3 flex flex-col gap-1 border-hairline border-t pt-2">
      {ways.map(({ name, command }) => (
        <button
          key={name}
          type="button"
          title={command}
          onClick={() => onCopy(command)}
          className="flex min-h-8 flex-col rounded-control px-2 py-1 text-left hover:bg-block pointer-coarse:min-h-11"
        >
          <span>{name}</span>
          <code className="font-mono text-code text-muted [overflow-wrap:anywhere]">{command}</code>
        </button>
      ))}
    </span>
  );
}
