"use client";
import { type RefObject, startTransition, useCallback, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import type { BodyRequest } from "../segments/request";

type Body = { key: string; element: HTMLElement; node: React.ReactNode };

/**
 * Loads what a closed fold holds when it is opened: `<details data-load={position}>` has only its summary until then.
 *
 * @param load renders a body; the same function at each call.
 * @param onDrawn is called when bodies have appeared.
 * @returns what draws the loaded bodies into their folds.
 */
export function useBodies(
  list: RefObject<HTMLElement | null>,
  load: (body: BodyRequest) => Promise<React.ReactNode>,
  onDrawn?: (list: HTMLElement | null) => void,
): React.ReactNode {
  const [bodies, setBodies] = useState<Body[]>([]);
  const count = useRef(0);
  useEffect(() => {
    if (bodies.length > 0) onDrawn?.(list.current);
  }, [bodies, onDrawn, list]);

  const open = useCallback(
    async (fold: HTMLDetailsElement) => {
      const element = appendWaiting(fold);
      try {
        const node = await load(requestOf(fold));
        if (!element.isConnected) return;
        element.replaceChildren();
        element.removeAttribute("role");
        count.current += 1;
        const body = { key: String(count.current), element, node: node ?? "This no longer exists." };
        startTransition(() => setBodies((all) => [...all.filter(isOnPage), body]));
      } catch {
        element.textContent = "It could not be loaded. Close and open it to try again.";
        fold.addEventListener("toggle", () => element.remove(), { once: true });
      }
    },
    [load],
  );

  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const onToggle = ({ target }: Event) => {
      if (target instanceof HTMLDetailsElement && lacksBody(target)) open(target);
    };
    element.addEventListener("toggle", onToggle, true);
    // What was opened before the script was there, by hand or by going back.
    for (const fold of element.querySelectorAll("details")) if (lacksBody(fold)) open(fold);
    return () => element.removeEventListener("toggle", onToggle, true);
  }, [list, open]);

  return bodies.filter(isOnPage).map(({ element, node, key }) => createPortal(node, element, key));
}

const isOnPage = ({ element }: Body) => element.isConnected;

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

/** The body that a fold lacks, from the fold's attributes; its positions are on the row where they are all of the row's. */
function requestOf(fold: HTMLDetailsElement): BodyRequest {
  const { load = "", part } = fold.dataset;
  const positions = fold.dataset.positions ?? fold.closest<HTMLElement>("[data-positions]")?.dataset.positions ?? load;
  return { position: Number(load), positions: positions.split(" ").map(Number), part };
}
