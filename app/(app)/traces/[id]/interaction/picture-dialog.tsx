"use client";
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";

type Picture = { href: string; alt: string };

/** Shows thumbnails in full size; without JavaScript they are links. */
export function PictureDialog({ list }: { list: RefObject<HTMLElement | null> }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [pictures, setPictures] = useState<Picture[]>([]);
  const [at, setAt] = useState(0);
  useEffect(() => {
    const place = list.current;
    const onClick = (event: MouseEvent) => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
      const link = event.target instanceof Element ? event.target.closest("a[data-picture]") : null;
      if (!link?.parentElement) return;
      event.preventDefault();
      const links = [...link.parentElement.querySelectorAll<HTMLAnchorElement>("a[data-picture]")];
      setPictures(
        links.map(({ href, firstElementChild }) => ({ href, alt: firstElementChild?.getAttribute("alt") ?? "" })),
      );
      setAt(links.indexOf(link as HTMLAnchorElement));
      dialog.current?.showModal();
    };
    place?.addEventListener("click", onClick);
    return () => place?.removeEventListener("click", onClick);
  }, [list]);
  const step = (by: number) => setAt((now) => (now + by + pictures.length) % pictures.length);
  const onKey = ({ key }: KeyboardEvent) => {
    if (key === "ArrowLeft") step(-1);
    if (key === "ArrowRight") step(1);
  };
  // The event may arrive when the dialog is open again.
  const onClose = () => !dialog.current?.open && setPictures([]);
  const shown = pictures[at];
  return (
    <dialog
      ref={dialog}
      aria-label={shown?.alt}
      onKeyDown={pictures.length > 1 ? onKey : undefined}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
      onClose={onClose}
      className="m-auto max-h-[calc(100dvh-2rem)] max-w-[calc(100vw-2rem)] rounded-dialog border border-hairline bg-overlay text-text shadow-lg backdrop:bg-black/60"
    >
      {shown && (
        <div className="flex flex-col gap-3 p-3">
          <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
            <p aria-live="polite" className="text-code text-muted">
              {shown.alt}
            </p>
            <form method="dialog" className="flex gap-2">
              {pictures.length > 1 && (
                <>
                  <button type="button" onClick={() => step(-1)} className="button">
                    Previous
                  </button>
                  <button type="button" onClick={() => step(1)} className="button">
                    Next
                  </button>
                </>
              )}
              <button type="submit" className="button">
                Close
              </button>
            </form>
          </div>
          {/* biome-ignore lint/performance/noImgElement: it is shown as it was sent */}
          <img
            key={shown.href}
            src={shown.href}
            alt={shown.alt}
            className="mx-auto max-h-[calc(100dvh-8rem)] min-h-16 max-w-full object-contain"
          />
        </div>
      )}
    </dialog>
  );
}
