"use client";
import { useFrame } from "../frame/frame";

export type Picks = { onPick: (() => void) | undefined };

type PickProps = { position: number; title: string; children: React.ReactNode } & Picks;

/** A link to a message; the frame handles its click and jumps there on the page. */
export function Pick({ position, title, onPick, children }: PickProps) {
  const { traceId } = useFrame();
  return (
    <a
      href={`/traces/${traceId}?at=${position}#m${position}`}
      title={title}
      onClick={onPick}
      className="flex h-7 items-center gap-2 rounded-control px-2 text-code hover:bg-block aria-[current]:bg-tint pointer-coarse:h-11"
    >
      {children}
    </a>
  );
}
