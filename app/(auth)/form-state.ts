/** What an account form says after it was sent: faults by field, one for the whole form, and what to fill in again. */
export type FormState = {
  errors?: Partial<Record<"name" | "email" | "password", string>>;
  error?: string;
  /** Set where the set-up link stopped working while its form stood open. */
  deadLink?: boolean;
  values?: { name?: string; email?: string };
};
