"use client";
import { useEffect, useRef } from "react";
import { createPortal } from "react-dom";

type Props = {
  title: string;
  children: React.ReactNode;
  action: string;
  onSubmit: (fields: FormData) => void;
  onClose: () => void;
};

/** Outside the list's own form, which surrounds its button. */
export function BulkDialog({ title, children, action, onSubmit, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return createPortal(
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      className="m-auto w-[min(28rem,calc(100vw-2rem))] rounded-dialog border border-hairline bg-overlay p-5 text-text shadow-lg backdrop:bg-black/40"
    >
      <form
        method="dialog"
        onSubmit={(event) => onSubmit(new FormData(event.currentTarget))}
        className="flex flex-col gap-4"
      >
        <h2 className="font-semibold text-section">{title}</h2>
        {children}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="button button-accent">
            {action}
          </button>
        </div>
      </form>
    </dialog>,
    document.body,
  );
}
