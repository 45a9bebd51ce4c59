"use client";
import { useActionState, useEffect, useRef } from "react";
import { ErrorSummary } from "../../components/error-summary";
import type { FormAction } from "../../components/form-state";

export const replayFormId = "replay";

/**
 * The form of every Replay button on a page, with its result. It stays when a row and its button disappear, so that the
 * result is announced and keeps the focus.
 */
export function ReplayForm({ action }: { action: FormAction }) {
  const [state, send, pending] = useActionState(action, {});
  const result = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (state.done) result.current?.focus({ preventScroll: true });
  }, [state]);
  return (
    <form id={replayFormId} action={send} onSubmit={(event) => pending && event.preventDefault()}>
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
