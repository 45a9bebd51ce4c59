"use client";
import { useEffect, useRef } from "react";
import { writtenReference } from "./written";

const shownMs = 2000;

/** The server sends the HTML; hydration leaves it unchanged. */
export function ReferenceHtml() {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const buttons = navigator.clipboard
      ? (place.current?.querySelectorAll<HTMLElement>("button[data-copy]") ?? [])
      : [];
    for (const button of buttons) {
      button.hidden = false;
      button.onclick = () => copy(button);
    }
  }, []);
  return (
    <div
      ref={place}
      className="reference"
      // biome-ignore lint/security/noDangerouslySetInnerHtml: messages/markup.ts wrote it with allowlists of elements and attributes
      dangerouslySetInnerHTML={{ __html: writtenReference() }}
      suppressHydrationWarning
    />
  );
}

async function copy(button: HTMLElement): Promise<void> {
  await navigator.clipboard.writeText(button.previousElementSibling?.textContent ?? "");
  const [words] = button.children;
  if (!words) return;
  words.textContent = "Copied";
  setTimeout(() => {
    words.textContent = "Copy";
  }, shownMs);
}
