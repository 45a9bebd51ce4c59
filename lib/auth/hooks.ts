import "server-only";
import type { BetterAuthPlugin, GenericEndpointContext } from "better-auth";
import { APIError, createAuthMiddleware } from "better-auth/api";
import { logSecurity, readOrigin } from "#lib/auth/audit";
import { isGuess, limitGuess, rememberBrowser, settleGuess } from "#lib/auth/guesses";
import { findLocalPath } from "#lib/auth/local-path";
import { noteStored, refuseOutdated, refuseWeakChange } from "#lib/auth/passwords";
import { spendCode } from "#lib/auth/second-factor";
import { keepSignIn } from "#lib/auth/sign-ins";
import { noteEvent } from "#lib/auth/trail";
import { callbackPath, leadToSecondFactor } from "#lib/auth/two-factor";
import { env } from "#lib/env";
import { getNetwork } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";
import { limits } from "#lib/limits";

type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

const targets = ["callbackURL", "errorCallbackURL", "newUserCallbackURL", "redirectTo"];

/** Refuses to lead anywhere but to our own pages. better-auth itself reads a path as text, not as a browser does. */
async function requireLocalTargets({ body, query }: HookContext): Promise<void> {
  for (const given of [body, query]) {
    for (const name of targets) {
      if (given?.[name] !== undefined && findLocalPath(given[name]) === undefined) {
        throw new APIError("FORBIDDEN", {
          code: "INVALID_CALLBACK_URL",
          message: `${name} is not a path of this site.`,
        });
      }
    }
  }
}

/** Each sign-in with a provider stores a value before anybody is known. */
async function limitProviderSignIns({ headers }: HookContext): Promise<void> {
  if (env().AUTH_RATE_LIMIT !== "on") return;
  const network = getNetwork(readOrigin(headers ?? new Headers()).address);
  const window = { points: limits.signIn.providerSignInsPerHourPerNetwork, seconds: 3600 };
  const wait = await overLimit("sign-in-provider", network, window);
  if (wait === undefined) return;
  logSecurity("too_many_attempts", readOrigin(headers ?? new Headers()), { limit: "sign-in-provider" });
  const message = "Too many sign-ins. Wait a while and try again.";
  throw new APIError("TOO_MANY_REQUESTS", { message }, { "Retry-After": String(wait) });
}

/**
 * Carries the choice whether to remember this browser over to the second factor, or to the way back from a provider: by the
 * cookie that better-auth has for those who chose no.
 */
async function carryChoice(context: HookContext): Promise<void> {
  const { name, attributes } = context.context.authCookies.dontRememberToken;
  const { path, body } = context;
  if (path === "/sign-in/social" && body?.additionalData?.remember === false) {
    await context.setSignedCookie(name, "true", context.context.secret, attributes);
  } else if (body?.rememberMe !== false && context.getCookie(name)) {
    context.setCookie(name, "", { ...attributes, maxAge: 0 });
  }
}

/**
 * Whether the sign-in that is being made may outlast the browser's own session. A sign-in with a password says so itself; for
 * its second factor, a way back from a provider and a new password the cookie does.
 */
export async function isRemembered(context: GenericEndpointContext | null): Promise<boolean> {
  if (!context || context.path === "/sign-in/email") return true;
  const { secret, authCookies } = context.context;
  return !(await context.getSignedCookie(authCookies.dontRememberToken.name, secret));
}

/**
 * Ends the sign-in that the browser had before, whose cookie the new one replaces. Not where a program calls the route itself:
 * it may hold several.
 */
async function endEarlier(context: HookContext): Promise<void> {
  const { newSession, authCookies, secret, internalAdapter } = context.context;
  if (!newSession || (context.request && isGuess(context.path))) return;
  const earlier = await context.getSignedCookie(authCookies.sessionToken.name, secret);
  if (earlier && earlier !== newSession.session.token) await internalAdapter.deleteSession(earlier);
}

/** Ends a sign-in that was not used for too long, and keeps one that is used. */
async function endIdle(context: HookContext) {
  const signIn = context.context.session?.session;
  if (!context.context.returned || !signIn || (await keepSignIn(signIn))) return;
  await context.context.internalAdapter.deleteSession(signIn.token);
  return context.json(null);
}

type MatchedRequest = { path?: string | undefined };
const always = () => true;
const on =
  (...paths: string[]) =>
  ({ path }: MatchedRequest) =>
    path !== undefined && paths.includes(path);

/**
 * What Spoor adds to better-auth's routes, over HTTP and in server actions alike. Its hooks run after the second factor's,
 * which removes a session that still needs the second step.
 */
export const spoorHooks = {
  id: "spoor",
  hooks: {
    before: [
      { matcher: always, handler: createAuthMiddleware(requireLocalTargets) },
      { matcher: ({ path }: MatchedRequest) => isGuess(path), handler: createAuthMiddleware(limitGuess) },
      { matcher: ({ path }: MatchedRequest) => isGuess(path), handler: createAuthMiddleware(noteStored) },
      { matcher: on("/sign-in/social"), handler: createAuthMiddleware(limitProviderSignIns) },
      { matcher: on("/change-password"), handler: createAuthMiddleware(refuseWeakChange) },
      { matcher: on("/two-factor/verify-totp"), handler: createAuthMiddleware(spendCode) },
    ],
    after: [
      { matcher: ({ path }: MatchedRequest) => isGuess(path), handler: createAuthMiddleware(refuseOutdated) },
      { matcher: ({ path }: MatchedRequest) => isGuess(path), handler: createAuthMiddleware(settleGuess) },
      { matcher: always, handler: createAuthMiddleware(noteEvent) },
      { matcher: always, handler: createAuthMiddleware(rememberBrowser) },
      { matcher: always, handler: createAuthMiddleware(endEarlier) },
      { matcher: on("/sign-in/email", "/sign-in/social"), handler: createAuthMiddleware(carryChoice) },
      { matcher: on(callbackPath), handler: createAuthMiddleware(leadToSecondFactor) },
      { matcher: on("/get-session"), handler: createAuthMiddleware(endIdle) },
    ],
  },
} satisfies BetterAuthPlugin;
