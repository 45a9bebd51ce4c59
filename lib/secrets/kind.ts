/**
 * A kind of secret. `forms` are templates of how such a secret is written: text as it stands, and runs of characters in braces,
 * as `{class:min-max}` or `{class:length}` (the classes: lib/secrets/template.ts). Each begins with text, which is looked for
 * first. A kind without forms is found by a function of lib/secrets/shapes.ts.
 *
 * What is certain is masked, what is only likely is flagged.
 */
export type Kind = {
  id: string;
  /** For people: what it is, as the beginning of a sentence. */
  name: string;
  certain: boolean;
  forms: readonly string[];
  /** Where one revokes it and makes a new one. */
  rotate: string;
};

export const kind = (id: string, name: string, rotate: string, ...forms: string[]): Kind => ({
  id,
  name,
  certain: true,
  forms,
  rotate,
});
export const likely = (id: string, name: string, rotate: string): Kind => ({
  id,
  name,
  certain: false,
  forms: [],
  rotate,
});
