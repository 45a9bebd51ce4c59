import "server-only";
import { APIError } from "better-auth/api";
import { hashPassword as hash, verifyPassword as verify } from "better-auth/crypto";
import { SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";

const { hashesAtOnce, hashWaitSeconds } = limits.signIn;

const globals = globalThis as typeof globalThis & { spoorHashing?: { running: number; waiting: Set<() => void> } };

/**
 * Runs a piece of work when fewer than `hashesAtOnce` run in this process. A hash takes a core for about 73 ms and 32 MiB,
 * so any number of passwords at once would leave no time for anything else.
 *
 * @throws SpoorError `overloaded` where its turn does not come in time.
 */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  globals.spoorHashing ??= { running: 0, waiting: new Set() };
  const turns = globals.spoorHashing;
  if (turns.running < hashesAtOnce) turns.running += 1;
  else await turn(turns.waiting);
  try {
    return await work();
  } finally {
    const [next] = turns.waiting;
    if (next) next();
    else turns.running -= 1;
  }
}

/** Waits until whoever ends hands its place on. */
function turn(waiting: Set<() => void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const take = () => {
      clearTimeout(timer);
      waiting.delete(take);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.delete(take);
      const detail = "The server is busy with other sign-ins. Try again in a moment.";
      reject(new SpoorError("overloaded", detail, { retryAfterSeconds: hashWaitSeconds }));
    }, hashWaitSeconds * 1000);
    waiting.add(take);
  });
}

/** A password's scrypt hash, as it is stored. @throws SpoorError `overloaded` */
export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password));

/** Whether a password is the one of a stored hash. @throws SpoorError `overloaded` */
export const verifyPassword = (given: { hash: string; password: string }): Promise<boolean> =>
  inTurn(() => verify(given));

/** The same for better-auth, which answers its own errors only. */
export const betterAuthPasswords = {
  hash: (password: string) => hashPassword(password).catch(asApiError),
  verify: (given: { hash: string; password: string }) => verifyPassword(given).catch(asApiError),
};

function asApiError(error: unknown): never {
  if (!(error instanceof SpoorError)) throw error;
  const { message, retryAfterSeconds } = error;
  throw new APIError("SERVICE_UNAVAILABLE", { message }, { "Retry-After": String(retryAfterSeconds) });
}
