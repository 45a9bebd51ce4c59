"use client";
import { useActionState, useEffect, useRef } from "react";
import { Command } from "../command";
import { Notice } from "../notice";
import { ErrorSummary } from "./error-summary";
import { Check, Field } from "./field";
import { NewPasswordField } from "./new-password-field";

export type FieldSpec = {
  name: string;
  label: string;
  type?: "text" | "email" | "password" | "checkbox";
  autoComplete?: string;
  inputMode?: "numeric" | "decimal";
  hint?: string;
  value?: string;
  maxLength?: number;
  optional?: boolean;
  /** Makes it a field for a new password that must not contain these texts. */
  about?: string[];
};

type Props = {
  action: FormAction;
  fields?: FieldSpec[];
  hidden?: Record<string, string>;
  submit: string;
  tone?: "accent" | "bad";
  describedBy?: string;
  /** Asked after the first press. The action must call `askFirst`. */
  question?: React.ReactNode;
  inLine?: boolean;
  children?: React.ReactNode;
  after?: React.ReactNode;
};

const tones = { accent: "button-accent", bad: "button-bad" } as const;

export function Form({
  action,
  fields = [],
  hidden = {},
  submit,
  tone,
  describedBy,
  question,
  inLine = false,
  children,
  after,
}: Props) {
  const [state, send, pending] = useActionState(action, {});
  const confirming = question !== undefined && state.confirming;
  return (
    <form action={send} noValidate className={`flex gap-4 ${inLine ? "flex-wrap items-center" : "flex-col"}`}>
      <ErrorSummary state={state} />
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {children}
      {fields.map((field) => (
        <SpecifiedField key={field.name} field={field} state={state} />
      ))}
      {after}
      {confirming ? (
        <Confirmation question={question} submit={submit} pending={pending} />
      ) : (
        <button
          type="submit"
          aria-disabled={pending}
          aria-describedby={describedBy}
          className={`button w-fit ${tone ? tones[tone] : ""}`}
        >
          {submit}
        </button>
      )}
      <div role="status" className={`flex flex-col gap-4 empty:hidden ${inLine ? "basis-full" : ""}`}>
        {state.done && <p className="text-ok">{state.done}</p>}
        {state.once && <ShownOnce once={state.once} />}
      </div>
    </form>
  );
}

/** Screen readers read the question before its buttons. */
function Confirmation({ question, submit, pending }: { question: React.ReactNode; submit: string; pending: boolean }) {
  const block = useRef<HTMLDivElement>(null);
  useEffect(() => block.current?.focus(), []);
  return (
    <div
      ref={block}
      tabIndex={-1}
      className="flex max-w-[44ch] flex-col gap-3 rounded-block border border-bad bg-block p-3"
    >
      <p>{question}</p>
      <div className="flex flex-wrap gap-3">
        <button type="submit" name="confirmed" value="no" aria-disabled={pending} className="button">
          Cancel
        </button>
        <button type="submit" name="confirmed" value="yes" aria-disabled={pending} className="button button-bad">
          {submit}
        </button>
      </div>
    </div>
  );
}

export function SpecifiedField({ field, state }: { field: FieldSpec; state: FormState }) {
  const { value, optional, about, ...input } = field;
  const given = state.done || state.once ? value : (state.values?.[field.name] ?? value);
  if (field.type === "checkbox") return <Check name={field.name} label={field.label} defaultChecked={Boolean(given)} />;
  const error = state.errors?.[field.name];
  if (about)
    return <NewPasswordField name={field.name} label={field.label} about={about} hint={field.hint} error={error} />;
  return <Field {...input} required={!optional} defaultValue={given} error={error} />;
}

function ShownOnce({ once: { label, text, note } }: { once: NonNullable<FormState["once"]> }) {
  return (
    <Notice tone="info">
      <p className="font-medium">{label}</p>
      <Command text={text} />
      <p className="text-muted">{note}</p>
    </Notice>
  );
}

export type FormState = {
  errors?: Record<string, string | undefined>;
  error?: string;
  /** The link that opened the form has stopped working. */
  deadLink?: boolean;
  values?: Record<string, string>;
  done?: string;
  confirming?: boolean;
  once?: { label: string; text: string; note: string };
};

export type FormAction<State = FormState> = (before: State, form: FormData) => Promise<State>;
