/** What a form shows after it was sent: errors by field, one for the whole form, and the values to fill in again. */
export type FormState = {
  errors?: Record<string, string | undefined>;
  error?: string;
  /** The link that opened the form has stopped working. */
  deadLink?: boolean;
  values?: Record<string, string>;
  /** A success message. */
  done?: string;
  /** The form asks the person to confirm before it acts. */
  confirming?: boolean;
  /** A text that is shown only once, such as a token. */
  once?: { label: string; text: string; note: string };
};

/** A server action behind `useActionState`. */
export type FormAction<State = FormState> = (before: State, form: FormData) => Promise<State>;
