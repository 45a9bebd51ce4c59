/** A place in a text, from `start` to before `end`. */
export type SecretPlace = { kind: string; start: number; end: number };

/**
 * What is found by more than its beginning: words beside it, looked for in any case, and a function that is called with each
 * place where one stands. It reads a bounded stretch of text.
 */
export type Detector = {
  words: readonly string[];
  /** Whether a name with the word may tell that its value is a secret; it may where this is not given. */
  mayTell?: (text: string, end: number) => boolean;
  /** Rejects, in a few steps, most places that are none; they do not count as looked at. */
  mayBe?: (text: string, end: number, start: number) => boolean;
  /** Whether the time of all its looks at a text grows with the text's length alone: it has as many as there are words. */
  isLinear?: boolean;
  find: (text: string, start: number, end: number) => SecretPlace | SecretPlace[] | undefined;
};
