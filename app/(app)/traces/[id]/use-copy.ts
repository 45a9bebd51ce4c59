"use client";
import { type RefObject, useEffect } from "react";

/**
 * Handles the messages' copy buttons: `data-copy="message"` copies the stored Markdown of its row, `block` the text of the
 * code it stands in, `command` the text of the template beside it.
 *
 * @param say tells the reader what came of it
 */
export function useCopy(list: RefObject<HTMLElement | null>, traceId: string, say: (text: string) => void) {
  useEffect(() => {
    const place = list.current;
    if (!place) return;
    const onClick = async ({ target }: MouseEvent) => {
      const button = target instanceof Element ? target.closest<HTMLElement>("button[data-copy]") : null;
      if (!button) return;
      try {
        await navigator.clipboard.writeText(await textOf(button, traceId));
        say("Copied");
        button.dataset.copied = "";
        setTimeout(() => delete button.dataset.copied, 2000);
      } catch {
        say("It could not be copied");
      }
    };
    place.addEventListener("click", onClick);
    return () => place.removeEventListener("click", onClick);
  }, [list, traceId, say]);
}

async function textOf(button: HTMLElement, traceId: string): Promise<string> {
  if (button.dataset.copy === "message") {
    const article = button.closest("article[data-position]");
    return fetchContent(traceId, Number(article?.getAttribute("data-position")));
  }
  const template = button.querySelector("template") ?? button.parentElement?.querySelector("template");
  if (template) return template.content.textContent ?? "";
  return button.parentElement?.querySelector("pre")?.textContent ?? "";
}

/** A message as it is stored. */
export async function fetchContent(traceId: string, position: number): Promise<string> {
  const after = position > 0 ? `&after=${position - 1}` : "";
  const response = await fetch(`/api/traces/${traceId}/messages?limit=1${after}`);
  if (!response.ok) throw new Error(`the messages answered ${response.status}`);
  const { messages } = (await response.json()) as { messages: { content: string }[] };
  return messages[0]?.content ?? "";
}
