import type { FieldSpec } from "../../components/form";

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
    inputMode: "numeric",
    autoComplete: "one-time-code",
    hint: "The six digits from your authenticator app.",
  },
} as const satisfies Record<string, FieldSpec>;
