"use client";
import { useActionState } from "react";
import type { FormAction } from "../../../components/forms/form";

type Props = { action: FormAction; id: string; title: string; shown: string; tags: string; note: string };

/** An empty name restores the agent's title. */
export function MarksForm({ action, id, title, shown, tags, note }: Props) {
  const [state, send, pending] = useActionState(action, {});
  return (
    <form action={send} className="flex flex-col gap-3">
      <input type="hidden" name="id" value={id} />
      <label className="flex flex-col gap-1">
        Name
        <input
          name="title"
          defaultValue={title}
          placeholder={shown}
          maxLength={512}
          autoComplete="off"
          className="input"
        />
      </label>
      <label className="flex flex-col gap-1">
        Tags, separated by commas
        <input name="tags" defaultValue={tags} autoComplete="off" maxLength={1400} className="input" />
      </label>
      <label className="flex flex-col gap-1">
        Note
        <textarea name="note" defaultValue={note} maxLength={10_000} rows={4} className="input h-auto py-2" />
      </label>
      <div className="flex items-center gap-3">
        <button type="submit" disabled={pending} className="button button-accent">
          Save
        </button>
        <p role="status" className={state.error ? "text-bad" : "text-muted"}>
          {state.error ?? state.done}
        </p>
      </div>
    </form>
  );
}
