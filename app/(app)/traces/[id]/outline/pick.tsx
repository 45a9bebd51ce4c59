"use client";
import { useFrame } from "../frame/frame";

export type Picks = { onPick: (() => void) | undefined };

type PickProps = { position: number; title: string; isTall?: boolean; children: React.ReactNode } & Picks;

/** A link that the frame turns into a jump. @param isTall has two lines */
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
