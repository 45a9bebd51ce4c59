import type { FieldSpec } from "../../components/forms/form";
import type { Proof } from "./proof";

/** Not `password`, which is the id of a section of the settings. */
export const proofFields = {
  password: {
    name: "account_password",
    label: "Password",
    type: "password",
    autoComplete: "current-password",
  },
  code: {
    name: "account_code",
    label: "Code",
    autoComplete: "one-time-code",
    hint: "The six digits from your authenticator app, or a recovery code.",
  },
} as const satisfies Partial<Record<Proof, FieldSpec>>;

export const fieldsFor = (proofs: Proof[]): FieldSpec[] =>
  proofs.flatMap((proof) => (proof === "recent" ? [] : [proofFields[proof]]));
