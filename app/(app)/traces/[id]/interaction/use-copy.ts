"use client";
import { type RefObject, useEffect } from "react";
import { rowSelector } from "../frame/geometry";

/** A group may have many messages. */
const maxCopied = 50;

export function useCopy(list: RefObject<HTMLElement | null>, traceId: string, say: (text: string) => void) {
  useEffect(() => {
    const place = list.current;
    if (!place) return;
    const onClick = async ({ target }: MouseEvent) => {
      const button = target instanceof Element ? target.closest<HTMLElement>("button[data-copy]") : null;
      if (!button) return;
      try {
        await navigator.clipboard.writeText(await readButtonText(button, traceId));
        say("Copied");
        showCopied(button);
      } catch {
        say("Could not copy");
      }
    };
    place.addEventListener("click", onClick);
    return () => place.removeEventListener("click", onClick);
  }, [list, traceId, say]);
}

const shownMs = 2000;

function showCopied(button: HTMLElement): void {
  if (button.dataset.copied !== undefined) return;
  const words = button.textContent;
  button.dataset.copied = "";
  button.textContent = "Copied";
  setTimeout(() => {
    delete button.dataset.copied;
    button.textContent = words;
  }, shownMs);
}

export function showRowCopied(row: HTMLElement): void {
  const button = row.querySelector<HTMLElement>(':scope > .facts-edge > button[data-copy="message"]');
  if (button) showCopied(button);
}

async function readButtonText(button: HTMLElement, traceId: string): Promise<string> {
  const row = button.closest<HTMLElement>(rowSelector);
  if (button.dataset.copy === "message") return row ? fetchRowContent(row, traceId) : "";
  return button.parentElement?.querySelector("pre")?.textContent ?? "";
}

export async function fetchRowContent(row: HTMLElement, traceId: string): Promise<string> {
  const { positions, position, member } = row.dataset;
  const wanted = (positions ?? member ?? position ?? "").split(" ").slice(0, maxCopied).map(Number);
  const contents = await Promise.all(wanted.map((one) => fetchContent(traceId, one)));
  return contents.filter((content) => content !== "").join("\n\n");
}

async function fetchContent(traceId: string, position: number): Promise<string> {
  const after = position > 0 ? `&after=${position - 1}` : "";
  const response = await fetch(`/api/traces/${traceId}/messages?limit=1${after}`);
  if (!response.ok) throw new Error(`the messages answered ${response.status}`);
  const { messages } = (await response.json()) as { messages: { content: string }[] };
  return messages[0]?.content ?? "";
}
