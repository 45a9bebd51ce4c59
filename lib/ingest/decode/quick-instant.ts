// Runs in the decoding thread: times in their most common form, read from bytes.

const code = (character: string) => character.charCodeAt(0);
const [colon, dash, dot, zero, nine] = [code(":"), code("-"), code("."), code("0"), code("9")];
const [letterT, letterZ] = [code("T"), code("Z")];

/** The longest text that `readInstant` takes, in bytes. */
export const maxInstantBytes = 30;
const daysInMonth = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * The milliseconds since 1970 of a time like `2026-11-20T08:00:00.123Z`; null for every other form and for invalid times,
 * which are left to `parseInstant` (lib/fields.ts).
 */
export function readInstant(text: Uint8Array | null): number | null {
  if (text === null || text.length < 20 || text.length > maxInstantBytes || text[text.length - 1] !== letterZ)
    return null;
  if (text[4] !== dash || text[7] !== dash || text[10] !== letterT) return null;
  if (text[13] !== colon || text[16] !== colon) return null;
  const [year, month, day] = [readDigits(text, 0, 4), readDigits(text, 5, 7), readDigits(text, 8, 10)];
  const [hour, minute, second] = [readDigits(text, 11, 13), readDigits(text, 14, 16), readDigits(text, 17, 19)];
  const isDate = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= (daysInMonth[month] as number);
  if (!isDate || !(hour <= 23 && minute <= 59 && second <= 59)) return null;
  let millisecond = 0;
  if (text.length > 20) {
    const decimals = text.length - 21;
    if (text[19] !== dot || decimals < 1 || Number.isNaN(readDigits(text, 20, 20 + decimals))) return null;
    const known = Math.min(3, decimals);
    millisecond = readDigits(text, 20, 20 + known) * 10 ** (3 - known);
  }
  return Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
}

/** The number written with the digits from `from` to `to`, or NaN if there is another character. */
function readDigits(text: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const byte = text[at] as number;
    if (byte < zero || byte > nine) return Number.NaN;
    value = value * 10 + byte - zero;
  }
  return value;
}
