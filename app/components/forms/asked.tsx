"use client";
import { useEffect, useRef } from "react";

/** Without JavaScript it is part of the page. */
export function Asked({ title, back, children }: { title: string; back: string; children: React.ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (!element) return;
    // The server sent it open, but not as a modal dialog.
    element.close();
    element.showModal();
    element.querySelector<HTMLElement>("[data-keep]")?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      open
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        location.assign(back);
      }}
      className="z-20 noscript:static noscript:mx-0 m-auto w-[min(34rem,calc(100vw-2rem))] rounded-dialog border border-hairline bg-overlay p-5 text-text shadow-lg backdrop:bg-black/40"
    >
      {children}
    </dialog>
  );
}
