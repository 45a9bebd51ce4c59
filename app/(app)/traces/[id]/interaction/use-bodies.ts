"use client";
import { type RefObject, useCallback, useEffect } from "react";
import type { BodyRequest } from "../segments/request";

/**
 * @param load a stable function
 * @param onDrawn a stable function, called when a body has appeared
 */
export function useBodies(
  list: RefObject<HTMLElement | null>,
  load: (body: BodyRequest) => Promise<string | undefined>,
  onDrawn?: (list: HTMLElement | null) => void,
): void {
  const open = useCallback(
    async (fold: HTMLDetailsElement) => {
      const element = appendWaiting(fold);
      try {
        const html = await load(toBodyRequest(fold));
        if (!element.isConnected) return;
        element.removeAttribute("role");
        if (html === undefined) element.textContent = "This no longer exists.";
        else element.innerHTML = html;
        onDrawn?.(list.current);
      } catch {
        element.textContent = "Could not load this. Close and reopen it to try again.";
        fold.addEventListener("toggle", () => element.remove(), { once: true });
      }
    },
    [list, load, onDrawn],
  );

  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const onToggle = ({ target }: Event) => {
      if (target instanceof HTMLDetailsElement && lacksBody(target)) open(target);
    };
    element.addEventListener("toggle", onToggle, true);
    // Folds may have been opened before the script ran.
    for (const fold of element.querySelectorAll("details")) if (lacksBody(fold)) open(fold);
    return () => element.removeEventListener("toggle", onToggle, true);
  }, [list, open]);
}

const lacksBody = (fold: HTMLDetailsElement) =>
  fold.open && fold.dataset.load !== undefined && !fold.querySelector(":scope > [data-body]");

function appendWaiting(fold: HTMLDetailsElement): HTMLElement {
  const element = document.createElement("div");
  element.dataset.body = "";
  element.textContent = "Loading…";
  element.setAttribute("role", "status");
  fold.append(element);
  return element;
}

function toBodyRequest(fold: HTMLDetailsElement): BodyRequest {
  const { load = "", part } = fold.dataset;
  const positions = fold.dataset.positions ?? fold.closest<HTMLElement>("[data-positions]")?.dataset.positions ?? load;
  return { position: Number(load), positions: positions.split(" ").map(Number), part };
}
