"use client";
import { useActionState } from "react";
import { ErrorSummary } from "../../../components/forms/error-summary";
import { SpecifiedField } from "../../../components/forms/form";
import type { Proof } from "../proof";
import { fieldsFor } from "../proof-fields";
import { changeAction } from "./actions";
import { RecoveryCodes } from "./enrol-form";

export function ChangeForm({ proofs, isRequired }: { proofs: Proof[]; isRequired: boolean }) {
  const [state, send, pending] = useActionState(changeAction, {});
  return (
    <form action={send} noValidate className="flex flex-col gap-4">
      <ErrorSummary state={state} />
      {fieldsFor(proofs).map((field) => (
        <SpecifiedField key={field.name} state={state} field={field} />
      ))}
      <div className="flex flex-wrap gap-3">
        <button type="submit" name="intent" value="codes" aria-disabled={pending} className="button">
          Create new recovery codes
        </button>
        {!isRequired && (
          <button type="submit" name="intent" value="off" aria-disabled={pending} className="button button-bad">
            Turn off
          </button>
        )}
      </div>
      <p className="text-meta text-muted">New recovery codes replace the old ones, whether used or not.</p>
      {state.codes && <RecoveryCodes codes={state.codes} />}
    </form>
  );
}
