"use client";
import { type RefObject, startTransition, useEffect, useState } from "react";
import { createPortal } from "react-dom";

type Body = { key: string; place: HTMLElement; node: React.ReactNode };

/** Which body a fold is closed over. */
export type BodyPlace = { position: number; positions: number[]; part: string | undefined };

type LoadBody = (body: BodyPlace) => Promise<React.ReactNode>;

/**
 * Fetches what a closed fold holds when it is opened: `<details data-load={position}>` has its summary alone until then.
 *
 * @param load fetches a body, rendered; the same function at each call.
 * @param onDrawn is called when bodies have been drawn.
 * @returns what draws the fetched bodies into their folds.
 */
export function useBodies(
  list: RefObject<HTMLElement | null>,
  load: LoadBody,
  onDrawn?: (list: HTMLElement | null) => void,
): React.ReactNode {
  const [bodies, setBodies] = useState<Body[]>([]);
  useEffect(() => {
    if (bodies.length > 0) onDrawn?.(list.current);
  }, [bodies, onDrawn, list]);
  useEffect(() => {
    const place = list.current;
    if (!place) return;
    let count = 0;
    const onToggle = async ({ target }: Event) => {
      if (!(target instanceof HTMLDetailsElement) || !target.open || !target.dataset.load) return;
      if (target.querySelector(":scope > [data-body]")) return;
      const body = document.createElement("div");
      body.dataset.body = "";
      body.textContent = "Loading…";
      body.setAttribute("role", "status");
      target.append(body);
      try {
        const node = await load(bodyOf(target));
        if (!body.isConnected) return;
        body.replaceChildren();
        body.removeAttribute("role");
        count += 1;
        const key = String(count);
        startTransition(() =>
          setBodies((all) => [
            ...all.filter((one) => one.place.isConnected),
            { key, place: body, node: node ?? "It is not there any more." },
          ]),
        );
      } catch {
        body.textContent = "It could not be loaded. Close and open it to try again.";
        target.addEventListener("toggle", () => body.remove(), { once: true });
      }
    };
    place.addEventListener("toggle", onToggle, true);
    // What was opened before the script was there, by hand or by going back.
    for (const fold of place.querySelectorAll("details[data-load][open]"))
      onToggle({ target: fold } as unknown as Event);
    return () => place.removeEventListener("toggle", onToggle, true);
  }, [list, load]);
  return bodies.filter(({ place }) => place.isConnected).map(({ key, place, node }) => createPortal(node, place, key));
}

/** What a fold says of its body; without positions of its own it is the row's. */
function bodyOf(fold: HTMLDetailsElement): BodyPlace {
  const { load, part } = fold.dataset;
  const place =
    fold.dataset.positions ?? fold.closest<HTMLElement>("[data-positions]")?.dataset.positions ?? load ?? "";
  return { position: Number(load), positions: place.split(" ").map(Number), part };
}
