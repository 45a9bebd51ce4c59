"use client";
import { useActionState } from "react";
import { Command } from "../../../components/command";
import { ErrorSummary } from "../../../components/forms/error-summary";
import { SpecifiedField } from "../../../components/forms/form";
import type { Proof } from "../proof";
import { fieldsFor } from "../proof-fields";
import { type Enrolment, switchOnAction } from "./actions";

export function EnrolForm({ proofs, next }: { proofs: Proof[]; next: string }) {
  const [state, send, pending] = useActionState(switchOnAction, {});
  const { enrolment } = state;
  return (
    <form action={send} noValidate className="flex flex-col gap-6">
      <ErrorSummary state={state} />
      <input type="hidden" name="next" value={next} />
      {enrolment ? (
        <Secret enrolment={enrolment} />
      ) : (
        fieldsFor(proofs).map((field) => <SpecifiedField key={field.name} state={state} field={field} />)
      )}
      {enrolment && (
        <SpecifiedField
          state={state}
          field={{
            name: "code",
            label: "Code",
            inputMode: "numeric",
            autoComplete: "one-time-code",
            hint: "The six digits that the app shows.",
          }}
        />
      )}
      <button type="submit" aria-disabled={pending} className="button button-accent w-fit">
        {enrolment ? "Confirm" : "Turn on"}
      </button>
    </form>
  );
}

function Secret({ enrolment: { picture, secret, codes } }: { enrolment: Enrolment }) {
  return (
    <>
      <section aria-labelledby="secret" className="flex flex-col gap-2">
        <h2 id="secret" className="font-semibold text-prose">
          Your authenticator app
        </h2>
        <p className="text-muted">Scan this with the app, or type in the secret.</p>
        {/* biome-ignore lint/performance/noImgElement: a picture inside the page has nothing to be optimized */}
        <img
          src={picture}
          alt="QR code of the secret below"
          width={200}
          height={200}
          className="rounded-block border border-hairline"
        />
        <Command text={secret} />
      </section>
      <RecoveryCodes codes={codes} />
    </>
  );
}

export function RecoveryCodes({ codes }: { codes: string[] }) {
  return (
    <section aria-labelledby="recovery-codes" className="flex flex-col gap-2">
      <h2 id="recovery-codes" className="font-semibold text-prose">
        Recovery codes
      </h2>
      <p className="text-muted">
        Keep them somewhere safe, not only on your phone. Each signs you in once, and they can't be shown again.
      </p>
      <Command text={codes.join("\n")} />
    </section>
  );
}
