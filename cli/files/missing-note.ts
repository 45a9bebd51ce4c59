import { formatNumber } from "../terminal/format.ts";

/** What stands in the place of what is missing of a text. */
export const missingNote = (missing: number, unit: "characters" | "bytes"): string =>
  `\n[Spoor: ${formatNumber(missing)} ${unit} are missing here: it is too long.]`;
