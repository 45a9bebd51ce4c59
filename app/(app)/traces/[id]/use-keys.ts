"use client";
import { useEffect, useRef } from "react";

/** What a key does. @returns false where it did nothing, and the key goes its usual way */
export type KeyActions = ReadonlyMap<string, () => unknown>;

const typing = "input, textarea, select, [contenteditable], [role=menu], [role=listbox], [role=tablist]";

/**
 * Listens to single keys, never while somebody types, or with a modifier, or while a dialog is open. A key behind `g` is the
 * second of a pair, which others listen to.
 *
 * @param enabled false where the reader has switched keys off
 */
export function useKeys(actions: KeyActions, enabled: boolean): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    if (!enabled) return;
    let wentAt = 0;
    const onKey = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (target instanceof Element && target.closest(typing)) return;
      if (document.querySelector("[role=dialog][data-open]")) return;
      const second = event.timeStamp - wentAt < 1000;
      wentAt = key === "g" ? event.timeStamp : 0;
      const action = latest.current.get(key);
      if (second || !action || action() === false) return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [enabled]);
}
