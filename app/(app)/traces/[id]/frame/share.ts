import type { RefObject } from "react";
import { goTo } from "../../../../components/navigation";
import { turnAt } from "../outline/turns";
import { currentPosition } from "./current";
import type { Frame } from "./frame";
import { shareHref } from "./links";

export type Share = (what: "turn" | "from") => void;

/** @returns undefined for another's session */
export function sharing({ traceId, outline }: Frame, list: RefObject<HTMLElement | null>): Share | undefined {
  if (traceId === undefined) return undefined;
  return (what) => {
    const position = currentPosition(list);
    const turns = outline.get()?.turns ?? [];
    const turn = turns[turnAt(turns, position)];
    const isTurn = what === "turn" && turn !== undefined;
    goTo(shareHref(traceId, isTurn ? { turn: turn.position } : { from: position }));
  };
}
