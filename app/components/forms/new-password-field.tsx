"use client";
import { useState } from "react";
import { passwordRule } from "#lib/auth/schema";
import { Field } from "./field";

type Props = {
  name: string;
  label: string;
  /** Texts that are easy to guess; the form's own name and address are added. */
  about?: string[] | undefined;
  hint?: string | undefined;
  error?: string | undefined;
};

export function NewPasswordField({ name, label, about = [], hint, error }: Props) {
  const [verdict, setVerdict] = useState<{ weakness?: string | undefined }>();
  const judge = async (input: HTMLInputElement) => {
    const typed = input.value;
    const { findWeakness } = await import("#lib/auth/passwords/password-strength");
    if (input.value !== typed) return; // a later call judges the newer text
    setVerdict(
      typed === ""
        ? undefined
        : { weakness: findWeakness(typed, [...about, ...listOtherFields(input), location.hostname]) },
    );
  };
  return (
    <div className="flex flex-col gap-1">
      <Field
        name={name}
        label={label}
        type="password"
        autoComplete="new-password"
        required
        hint={hint ? `${passwordRule} ${hint}` : passwordRule}
        error={error}
        // The server checks it if the estimator does not load.
        onInput={({ currentTarget }) => void judge(currentTarget).catch(() => setVerdict(undefined))}
      />
      <p aria-live="polite" className={`text-meta empty:hidden ${verdict?.weakness ? "text-warn" : "text-ok"}`}>
        {verdict && (verdict.weakness ?? "Strong")}
      </p>
    </div>
  );
}

const listOtherFields = ({ form }: HTMLInputElement) =>
  ["name", "email"].map((field) => String((form && new FormData(form).get(field)) ?? ""));
