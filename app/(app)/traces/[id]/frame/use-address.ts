"use client";
import { useCallback, useEffect, useRef } from "react";
import type { Target } from "../segments/target";
import { type Edge, positionOf, topArticle } from "./geometry";

type Saved = { position: number; offset: number };
type Props = {
  list: React.RefObject<HTMLElement | null>;
  jump: (target: Target) => void;
  /** The position in the address that the page was rendered for. */
  at: number | undefined;
};

/** Keeps the address and the place on the page in step: a jump is a history entry, and going back or reloading restores the place. */
export function useAddress({ list, jump, at }: Props) {
  const start = useRef(at);
  const first = useRef(true);

  useEffect(() => {
    history.scrollRestoration = "manual";
    const come = () => {
      const saved = savedPlace();
      const asked = askedPosition();
      if (saved) jump({ ...saved, quiet: true });
      else if (asked !== undefined) jump({ position: asked });
    };
    if (first.current && (savedPlace() || start.current !== undefined || /^#m\d+$/.test(location.hash))) come();
    first.current = false;
    window.addEventListener("popstate", come);
    window.addEventListener("hashchange", come);
    return () => {
      history.scrollRestoration = "auto";
      window.removeEventListener("popstate", come);
      window.removeEventListener("hashchange", come);
    };
  }, [jump]);

  /** Saves the scroll position in the history entry. */
  const save = useCallback(() => {
    const row = list.current && topArticle(list.current);
    if (!row) return;
    const spoor: Saved = { position: positionOf(row), offset: row.getBoundingClientRect().top };
    history.replaceState({ ...history.state, spoor }, "");
  }, [list]);

  // A scroll is saved when it has come to rest, or when the page is left before that.
  useEffect(() => {
    window.addEventListener("beforeunload", save);
    return () => window.removeEventListener("beforeunload", save);
  }, [save]);

  /** Jumps, with a new history entry. */
  const go = useCallback(
    (position: number, near = false) => {
      save();
      enter("at", position);
      jump({ position, near });
    },
    [jump, save],
  );

  /** Goes to an end of the session, with a new history entry. */
  const toEdge = useCallback(
    (edge: Edge) => {
      save();
      enter("before", edge === "end" ? afterAll : undefined);
      jump({ edge });
    },
    [jump, save],
  );

  return { go, toEdge, save };
}

/** No position is higher. */
const afterAll = 2_147_483_647;

/** Makes an entry of the history that names a place, or the start. */
function enter(name: "at" | "before", position: number | undefined): void {
  const address = new URL(location.href);
  for (const other of ["at", "before", "after"]) address.searchParams.delete(other);
  if (position !== undefined) address.searchParams.set(name, String(position));
  address.hash = "";
  history.pushState({ spoorFolds: history.state?.spoorFolds }, "", address);
}

function savedPlace(): Saved | undefined {
  const spoor: unknown = history.state?.spoor;
  return spoor && typeof spoor === "object" && "position" in spoor ? (spoor as Saved) : undefined;
}

/** The position that an address names, in its query or as `#m{position}`. */
export function askedPosition(address = new URL(location.href)): number | undefined {
  const text = /^#m(\d{1,10})$/.exec(address.hash)?.[1] ?? address.searchParams.get("at");
  return text && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
