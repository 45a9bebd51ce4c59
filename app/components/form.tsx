"use client";
import { useActionState } from "react";
import { Command } from "./command";
import { ErrorSummary } from "./error-summary";
import { Check, Field } from "./field";
import type { FormAction, FormState } from "./form-state";
import { Notice } from "./notice";

export type FieldSpec = {
  name: string;
  label: string;
  type?: "text" | "email" | "password" | "checkbox";
  autoComplete?: string;
  inputMode?: "numeric";
  hint?: string;
  value?: string;
  maxLength?: number;
  optional?: boolean;
};

type Props = {
  action: FormAction;
  fields?: FieldSpec[];
  hidden?: Record<string, string>;
  submit: string;
  tone?: "accent" | "bad";
  /** The id of the text that says what the button is about, where many of its name stand on a page. */
  describedBy?: string;
  /** What stands before the fields, and what stands behind them. */
  children?: React.ReactNode;
  after?: React.ReactNode;
};

const tones = { accent: "button-accent", bad: "button-bad" } as const;

/** A form with its fields, what is wrong with them, what came of it, and a text to be seen once. Works without script. */
export function Form({ action, fields = [], hidden = {}, submit, tone, describedBy, children, after }: Props) {
  const [state, send, pending] = useActionState(action, {});
  return (
    <form action={send} noValidate className="flex flex-col gap-4">
      <ErrorSummary state={state} />
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {children}
      {fields.map((field) => (
        <SpecifiedField key={field.name} field={field} state={state} />
      ))}
      {after}
      <button
        type="submit"
        aria-disabled={pending}
        aria-describedby={describedBy}
        className={`button w-fit ${tone ? tones[tone] : ""}`}
      >
        {submit}
      </button>
      <div role="status" className="flex flex-col gap-4 empty:hidden">
        {state.done && <p className="text-ok">{state.done}</p>}
        {state.once && <ShownOnce once={state.once} />}
      </div>
    </form>
  );
}

export function SpecifiedField({ field, state }: { field: FieldSpec; state: FormState }) {
  const { value, optional, ...input } = field;
  const given = state.done || state.once ? value : (state.values?.[field.name] ?? value);
  if (field.type === "checkbox") return <Check name={field.name} label={field.label} defaultChecked={Boolean(given)} />;
  return <Field {...input} required={!optional} defaultValue={given} error={state.errors?.[field.name]} />;
}

/** A secret that cannot be shown again. */
function ShownOnce({ once: { label, text, note } }: { once: NonNullable<FormState["once"]> }) {
  return (
    <Notice tone="info">
      <p className="font-medium">{label}</p>
      <Command text={text} />
      <p className="text-muted">{note}</p>
    </Notice>
  );
}
