"use client";
import { Check } from "../../../components/forms/field";
import { Form } from "../../../components/forms/form";
import { verifyCodeAction, verifyRecoveryAction } from "./actions";

export function CodeForm({ next }: { next: string }) {
  return (
    <Form
      action={verifyCodeAction}
      hidden={{ next }}
      fields={[
        {
          name: "code",
          label: "Code",
          inputMode: "numeric",
          autoComplete: "one-time-code",
          hint: "The six digits from your authenticator app.",
        },
      ]}
      submit="Verify"
      tone="accent"
      after={<Check name="trust" label="Trust this browser for 30 days" />}
    />
  );
}

export function RecoveryForm({ next }: { next: string }) {
  return (
    <Form
      action={verifyRecoveryAction}
      hidden={{ next }}
      fields={[
        {
          name: "recovery_code",
          label: "Recovery code",
          autoComplete: "off",
          hint: "One of the codes that you saved when you turned two-factor authentication on. Each works once.",
        },
      ]}
      submit="Use recovery code"
      tone="accent"
    />
  );
}
