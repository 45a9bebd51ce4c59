import type { FieldSpec } from "../../components/form";
import type { Proof } from "./proof";

/** The fields by which a person proves again who they are. Not `password`: that is the id of a section of the settings. */
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

/** The fields for some proofs; that a sign-in is recent needs none. */
export const fieldsFor = (proofs: Proof[]): FieldSpec[] =>
  proofs.flatMap((proof) => (proof === "recent" ? [] : [proofFields[proof]]));
