/** Ends lines, moves the cursor, starts escape sequences (also those of C1), reorders text, or can't be seen. */
const control = /[\p{Cc}\p{Zl}\p{Zp}]/gu;
const invisible = /[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
const space = /\p{Zs}/gu;
const unprintable = /(?! )[\p{Cc}\p{Z}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** One line of visible text: control characters become spaces, invisible and bidirectional ones are removed. */
export const toPrintable = (text: string): string =>
  text.replace(control, " ").replace(invisible, "").replace(space, " ");

/** A JSON text with the same value, in which everything that `toPrintable` takes away is escaped. */
export const toPrintableJson = (value: unknown): string =>
  JSON.stringify(value).replace(unprintable, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(""),
  );

const escapeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;
