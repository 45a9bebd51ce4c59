import "server-only";
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { APIError } from "better-auth/api";
import { verifyPassword as verifyEarlier } from "better-auth/crypto";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { requestAddress } from "#lib/core/current-request";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { getSite } from "#lib/http/address";

const { hashesAtOnce, hashWaitSeconds } = limits.signIn;

const hashing = oncePerProcess("hashing", () => new FairQueue(hashesAtOnce));

/**
 * Each hash takes a core for 0.2 s, and 32 MiB.
 * @param address by default the current request's
 * @throws SpoorError `overloaded` if its turn does not come in time
 */
export async function inTurn<T>(work: () => Promise<T>, address = requestAddress() ?? "unknown"): Promise<T> {
  const late = new AbortController();
  const detail = "The server is busy with other sign-ins. Try again in a moment.";
  const refused = new SpoorError("overloaded", detail, { retryAfterSeconds: hashWaitSeconds });
  const timer = setTimeout(() => late.abort(refused), hashWaitSeconds * 1000);
  const giveBack = await hashing.take(getSite(address), late.signal).finally(() => clearTimeout(timer));
  try {
    return await work();
  } finally {
    giveBack();
  }
}

/** OWASP's for scrypt at 32 MiB: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html */
const work = { ln: 15, r: 8, p: 3 };
const saltBytes = 16;
const keyBytes = 64;

type HashingWork = typeof work;

const stored = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

function derive(password: string, salt: Buffer, { ln, r, p }: HashingWork): Promise<Buffer> {
  const N = 2 ** ln;
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // Unicode writes one text in several forms, and keyboards differ (NIST SP 800-63B, section 5.1.1.2).
  scrypt(password.normalize("NFKC"), salt, keyBytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  return promise;
}

/** Above better-auth's 128; a longer text is hashed as the empty text, which is no user's password. */
const maxCharacters = 1024;

/** Normalizing a long run of accents blocks the process for minutes. */
const bound = (password: string): string => (password.length <= maxCharacters ? password : "");

async function makeHash(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await derive(password, salt, work);
  return `$scrypt$ln=${work.ln},r=${work.r},p=${work.p}$${salt.toString("base64url")}$${key.toString("base64url")}`;
}

async function isMatch(given: { hash: string; password: string }): Promise<boolean> {
  const [, ln, r, p, salt = "", key = ""] = stored.exec(given.hash) ?? [];
  if (!ln) return isEarlierMatch(given);
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) };
  const derived = await derive(given.password, Buffer.from(salt, "base64url"), parameters);
  const expected = Buffer.from(key, "base64url");
  return derived.length === expected.length && timingSafeEqual(derived, expected);
}

/**
 * An earlier version's hash takes a third of the work; without the rest, time would reveal which addresses have one.
 */
async function isEarlierMatch(given: { hash: string; password: string }): Promise<boolean> {
  const matches = await verifyEarlier(given);
  await derive(given.password, randomBytes(saltBytes), { ...work, p: work.p - 1 });
  return matches;
}

export const isOutdated = (hash: string): boolean => !hash.startsWith(`$scrypt$ln=${work.ln},r=${work.r},p=${work.p}$`);

export const hashPassword = (password: string): Promise<string> => inTurn(() => makeHash(password));

export const verifyPassword = ({ hash, password }: { hash: string; password: string }): Promise<boolean> =>
  inTurn(() => isMatch({ hash, password: bound(password) }));

/** better-auth answers only its own errors. */
export const betterAuthPasswords = {
  hash: (password: string) => hashPassword(bound(password)).catch(asApiError),
  verify: (given: { hash: string; password: string }) => verifyPassword(given).catch(asApiError),
};

function asApiError(error: unknown): never {
  if (!(error instanceof SpoorError)) throw error;
  const { message, retryAfterSeconds } = error;
  throw new APIError("SERVICE_UNAVAILABLE", { message }, { "Retry-After": String(retryAfterSeconds) });
}
