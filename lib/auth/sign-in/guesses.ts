import "server-only";
import { APIError, getSessionFromCtx, isAPIError } from "better-auth/api";
import { listEvents, logSecurity, readOrigin } from "#lib/auth/audit";
import { extendKnownBrowser, findKnownBrowser } from "#lib/auth/sign-in/known-browser";
import { findPendingUser, type HookContext } from "#lib/auth/sign-in/second-factor";
import { sha256 } from "#lib/core/digest";
import { env } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import { getNetwork, getSite } from "#lib/http/address";
import { countAttempt, uncount } from "#lib/http/rate-limit";

/** `spares` exempts from the limit. */
type GuessBudget = {
  name: string;
  key: string;
  window: { points: number; seconds: number };
  spares?: () => Promise<boolean>;
};

const hour = 3600;
const { signIn } = limits;

/** Counted by a running attempt, until its outcome is known. */
const running = new WeakMap<object, GuessBudget[]>();

export const isGuess = (path: string | undefined): boolean =>
  path === "/sign-in/email" || path === "/two-factor/verify-totp" || path === "/two-factor/verify-backup-code";

/** A hash bounds the key's length, since anybody can create a counter for any text. */
export const accountKey = (email: string): string => sha256(email.toLowerCase()).toString("base64url");

/**
 * Counts an attempt across all web processes; `settleGuess` takes it back unless the answer was wrong. @throws APIError
 * 429
 */
export async function limitGuess(context: HookContext): Promise<void> {
  if (env().AUTH_RATE_LIMIT !== "on") return;
  const counted: GuessBudget[] = [];
  running.set(context.context, counted);
  for (const budget of await listBudgets(context)) {
    const wait = await countAttempt(budget.name, budget.key, budget.window);
    if (wait === undefined) {
      counted.push(budget);
    } else if (!(await budget.spares?.())) {
      await takeBack(counted);
      logSecurity("too_many_attempts", readOrigin(context.headers ?? new Headers()), { limit: budget.name });
      throw new APIError("TOO_MANY_REQUESTS", { message: tooMany(wait) }, { "Retry-After": String(wait) });
    }
  }
}

export async function settleGuess(context: HookContext): Promise<void> {
  const counted = running.get(context.context);
  const { returned } = context.context;
  if (counted && !(isAPIError(returned) && returned.statusCode === 401)) await takeBack(counted);
}

async function takeBack(counted: GuessBudget[]): Promise<void> {
  for (const { name, key, window } of counted.splice(0)) await uncount(name, key, window);
}

function tooMany(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return `Too many wrong attempts. Try again in ${minutes === 1 ? "a minute" : `${minutes} minutes`}.`;
}

async function listBudgets(context: HookContext): Promise<GuessBudget[]> {
  const { address } = readOrigin(context.headers ?? new Headers());
  const network = getNetwork(address);
  if (context.path !== "/sign-in/email") return secondFactorBudgets(context, network);
  // better-auth refuses other types later.
  const email = typeof context.body?.email === "string" ? context.body.email.toLowerCase() : "";
  const key = accountKey(email);
  const browser = await findKnownBrowser(context.getCookie(makeCookie(context).name), email);
  if (browser) {
    const window = { points: signIn.wrongPerHourPerBrowser, seconds: hour };
    return [{ name: "sign-in-browser", key: `${browser}:${key}`, window }];
  }
  return [
    {
      name: "sign-in-account",
      key: `${network}:${key}`,
      window: { points: signIn.wrongPerHourPerNetworkAndAccount, seconds: hour },
    },
    // Without addresses all clients would share one network.
    ...(network === "unknown" ? [] : [networkBudget(network)]),
    ...(address.includes(":") ? [siteBudget(getSite(address), key)] : []),
    {
      name: "sign-in-everywhere",
      key,
      window: { points: signIn.wrongPerDayPerAccountFromUnknownNetworks, seconds: 24 * hour },
      spares: () => isKnownNetwork(email, network),
    },
  ];
}

const networkBudget = (network: string): GuessBudget => ({
  name: "sign-in-network",
  key: network,
  window: { points: signIn.wrongPerHourPerNetwork, seconds: hour },
});

const siteBudget = (site: string, key: string): GuessBudget => ({
  name: "sign-in-site",
  key: `${site}:${key}`,
  window: { points: signIn.wrongPerDayPerSiteAndAccount, seconds: 24 * hour },
});

/** better-auth's own lock counts only while signing in, for all networks together. */
async function secondFactorBudgets(context: HookContext, network: string): Promise<GuessBudget[]> {
  const userId = (await getSessionFromCtx(context))?.user.id ?? (await findPendingUser(context));
  if (!userId) return [];
  const window = { points: signIn.wrongPerHourPerNetworkAndAccount, seconds: hour };
  return [{ name: "second-factor", key: `${network}:${userId}`, window }];
}

const nobody = "00000000-0000-0000-0000-000000000000";

/** Considers the account's last 200 sign-ins. */
async function isKnownNetwork(email: string, network: string): Promise<boolean> {
  const user = await prisma().user.findUnique({ where: { email }, select: { id: true } });
  const events = await listEvents(user?.id ?? nobody, { limit: 200, actions: ["signed_in"] });
  return events.some(({ address }) => getNetwork(address) === network);
}

const makeCookie = (context: HookContext) =>
  context.context.createAuthCookie("known_browser", { maxAge: signIn.knownBrowserDays * 86_400 });

/** From now on this browser's guesses are counted separately. */
export async function rememberBrowser(context: HookContext): Promise<void> {
  const { newSession: started, returned } = context.context;
  // better-auth throws a provider's redirect as an error, too.
  if (!started || (isAPIError(returned) && returned.statusCode >= 400)) return;
  const { name, attributes } = makeCookie(context);
  const value = await extendKnownBrowser(context.getCookie(name), started.user.id);
  if (value) context.setCookie(name, value, attributes);
}
