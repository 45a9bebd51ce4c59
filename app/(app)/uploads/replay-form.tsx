"use client";
import { useActionState, useEffect, useRef } from "react";
import { ErrorSummary } from "../../components/error-summary";
import type { FormAction } from "../../components/form-state";

export const replayFormId = "replay";

/**
 * The one form that every Replay button of a page belongs to, and what came of it. It stays where a row and its button go
 * away, so that what was done is still told, and the focus is not lost.
 */
export function ReplayForm({ action }: { action: FormAction }) {
  const [state, send, pending] = useActionState(action, {});
  const told = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (state.done) told.current?.focus({ preventScroll: true });
  }, [state]);
  return (
    <form id={replayFormId} action={send} onSubmit={(event) => pending && event.preventDefault()}>
      <ErrorSummary state={state} />
      <div role="status">
        {state.done && (
          <p ref={told} tabIndex={-1} className="pb-4 text-ok outline-none">
            {state.done}
          </p>
        )}
      </div>
    </form>
  );
}
