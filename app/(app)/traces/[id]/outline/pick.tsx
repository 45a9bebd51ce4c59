"use client";
import { useFrame } from "../frame/frame";

export type Picks = { onPick: (() => void) | undefined };

type PickProps = { position: number; title: string; isTall?: boolean; children: React.ReactNode } & Picks;

/** A link to a message; the frame handles its click and jumps there on the page. @param isTall whether it has two lines */
export function Pick({ position, title, isTall, onPick, children }: PickProps) {
  const { page } = useFrame();
  return (
    <a
      href={`${page}?at=${position}#m${position}`}
      title={title}
      onClick={onPick}
      className={`flex ${isTall ? "h-11" : "h-7 pointer-coarse:h-11"} items-center gap-2 rounded-control px-2 text-code hover:bg-block aria-[current]:bg-tint`}
    >
      {children}
    </a>
  );
}
