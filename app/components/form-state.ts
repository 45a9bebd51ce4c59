/** What a form says after it was sent: faults by field, one for the whole form, and what to fill in again. */
export type FormState = {
  errors?: Record<string, string | undefined>;
  error?: string;
  /** Set where the link that opened the form stopped working meanwhile. */
  deadLink?: boolean;
  values?: Record<string, string>;
  /** What was done, in a sentence. */
  done?: string;
  /** A text that leaves the server in this one answer, such as a token. */
  once?: { label: string; text: string; note: string };
};

/** A server action behind `useActionState`. */
export type FormAction<State = FormState> = (before: State, form: FormData) => Promise<State>;
