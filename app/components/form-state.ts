export type FormState = {
  errors?: Record<string, string | undefined>;
  error?: string;
  /** The link that opened the form has stopped working. */
  deadLink?: boolean;
  values?: Record<string, string>;
  done?: string;
  confirming?: boolean;
  /** A text that is shown only once, such as a token. */
  once?: { label: string; text: string; note: string };
};

export type FormAction<State = FormState> = (before: State, form: FormData) => Promise<State>;
