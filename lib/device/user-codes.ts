import "server-only";
import { createHmac, randomInt } from "node:crypto";
import { requiredEnv } from "#lib/core/env";

/** Consonants only, so that no words and no look-alikes occur (RFC 8628, section 6.1). */
const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ";

/** Eight letters could all be tried against a plain hash, so this one is keyed. */
export const hashOfUserCode = (code: string) =>
  createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`user-code:${code}`).digest();

export const shownUserCode = (code: string) => `${code.slice(0, 4)}-${code.slice(4)}`;

export const randomUserCode = () =>
  Array.from({ length: 8 }, () => userCodeLetters[randomInt(userCodeLetters.length)]).join("");

/** @returns undefined if it can't be a code */
export function normalizeUserCode(typed: string): string | undefined {
  const code = typed.replace(/[\s\p{Pd}]/gu, "").toUpperCase();
  return new RegExp(`^[${userCodeLetters}]{8}$`).test(code) ? code : undefined;
}
