"use client";
import { type FormEvent, useActionState, useEffect, useRef } from "react";
import { ErrorSummary } from "../../components/forms/error-summary";
import type { FormAction } from "../../components/forms/form";

const replayFormId = "replay";

/** Shared, so that the result keeps the focus when a row disappears. */
export function ReplayForm({ action }: { action: FormAction }) {
  const [state, send, pending] = useActionState(action, {});
  const isSending = useRef(false); // `pending` changes too late for the second click of a double one
  const result = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (state.done) result.current?.focus({ preventScroll: true });
  }, [state]);
  useEffect(() => {
    if (!pending) isSending.current = false;
  }, [pending]);
  const sendOnce = (event: FormEvent) => {
    if (isSending.current) event.preventDefault();
    isSending.current = true;
  };
  return (
    <form id={replayFormId} action={send} onSubmit={sendOnce}>
      <ErrorSummary state={state} />
      <div role="status">
        {state.done && (
          <p ref={result} tabIndex={-1} className="pb-4 text-ok outline-none">
            {state.done}
          </p>
        )}
      </div>
    </form>
  );
}

export function ReplayButton({ jobId, describedBy }: { jobId: string | "all"; describedBy?: string }) {
  const isAll = jobId === "all";
  return (
    <button
      type="submit"
      form={replayFormId}
      name={isAll ? "all" : "id"}
      value={isAll ? "1" : jobId}
      aria-describedby={describedBy}
      className="button w-fit"
    >
      {isAll ? "Replay all" : "Replay"}
    </button>
  );
}
