"use client";
import { useFrame } from "../frame/frame";

export type Picks = { onPick: (() => void) | undefined };

type PickProps = { position: number; title: string; isTall?: boolean; children: React.ReactNode } & Picks;

export function Pick({ position, title, isTall, onPick, children }: PickProps) {
  const { page } = useFrame();
  return (
    <a
      href={`${page}?at=${position}#m${position}`}
      title={title}
      onClick={onPick}
      className={`flex ${isTall ? "h-12 items-start py-1" : "h-7 items-center pointer-coarse:h-11"} gap-2 rounded-control px-2 text-code hover:bg-block aria-[current]:bg-tint`}
    >
      {children}
    </a>
  );
}
