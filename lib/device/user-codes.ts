// The code of a device login that a person types: made, hashed, shown and read.
import "server-only";
import { createHmac, randomInt } from "node:crypto";
import { requiredEnv } from "#lib/env";

/** The letters of a user code: consonants only, so that no words and no look-alikes occur (RFC 8628, section 6.1). */
const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ";

/** Eight letters are few enough to try them all against a plain hash, so the user code's hash is keyed. */
export const hashOfUserCode = (code: string) =>
  createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`user-code:${code}`).digest();

export const shownUserCode = (code: string) => `${code.slice(0, 4)}-${code.slice(4)}`;

export const randomUserCode = () =>
  Array.from({ length: 8 }, () => userCodeLetters[randomInt(userCodeLetters.length)]).join("");

/** A typed user code in capitals, without spaces and dashes; undefined where it can't be one. */
export function normalizeUserCode(typed: string): string | undefined {
  const code = typed.replace(/[\s\p{Pd}]/gu, "").toUpperCase();
  return new RegExp(`^[${userCodeLetters}]{8}$`).test(code) ? code : undefined;
}
