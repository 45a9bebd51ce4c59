/** Characters that end lines, move the cursor, start escape sequences or reorder text. */
const control = /[\p{Cc}\p{Zl}\p{Zp}]/gu;
const invisible = /[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
const space = /\p{Zs}/gu;
const unprintable = /(?! )[\p{Cc}\p{Z}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns one line of visible text. */
export const toPrintable = (text: string): string =>
  text.replace(control, " ").replace(invisible, "").replace(space, " ");

/** Escapes in JSON what `toPrintable` would remove. */
export const toPrintableJson = (value: unknown): string =>
  JSON.stringify(value).replace(unprintable, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(""),
  );

const escapeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;
