"use client";
import { useEffect, useRef } from "react";
import type { FormState } from "./form";

/** Takes the focus, so that screen readers announce it. */
export function ErrorSummary({ state }: { state: FormState }) {
  const summary = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (state.error || state.errors) summary.current?.focus();
  }, [state]);
  const errors = Object.entries(state.errors ?? {});
  if (!state.error && errors.length === 0) return null;
  return (
    <div
      ref={summary}
      role="alert"
      tabIndex={-1}
      className="rounded-block border border-bad border-l-4 bg-block px-3 py-2"
    >
      {state.error && <p>{state.error}</p>}
      {errors.length > 0 && (
        <ul>
          {errors.map(([field, message]) => (
            <li key={field}>
              <a href={`#${field}`} className="link inline-block first-letter:uppercase">
                {field.replaceAll("_", " ")}
              </a>
              : {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
