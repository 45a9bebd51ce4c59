import { formatNumber } from "../terminal/format.ts";

export const missingNote = (missing: number, unit: "characters" | "bytes"): string =>
  `\n[Spoor: ${formatNumber(missing)} ${unit} are missing here: it is too long.]`;
