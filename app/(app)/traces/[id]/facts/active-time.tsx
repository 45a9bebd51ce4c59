"use client";
import { useSyncExternalStore } from "react";
import { useFrame } from "../frame/frame";
import { durationOf } from "../messages/clock";

/** The time without pauses of more than five minutes; the outline, which comes last, has it. */
export function ActiveTime() {
  const { outline } = useFrame();
  const known = useSyncExternalStore(outline.subscribe, outline.get, () => undefined);
  if (!known) return <span className="text-muted">counting…</span>;
  if (known.activeSeconds === null) return <span className="text-muted">unknown</span>;
  return (
    <span title="Without pauses of five minutes and more">
      {durationOf(known.activeSeconds * 1000)}, without pauses
    </span>
  );
}
