import "server-only";
import type { BetterAuthPlugin, GenericEndpointContext } from "better-auth";
import { APIError, createAuthMiddleware } from "better-auth/api";
import { logSecurity, readOrigin } from "#lib/auth/audit";
import { noteStored, refuseOutdated, refuseWeakChange } from "#lib/auth/passwords/passwords";
import { isGuess, limitGuess, rememberBrowser, settleGuess } from "#lib/auth/sign-in/guesses";
import { type HookContext, spendCode } from "#lib/auth/sign-in/second-factor";
import { keepSignIn } from "#lib/auth/sign-in/sign-ins";
import { callbackPath, leadToSecondFactor } from "#lib/auth/sign-in/two-factor";
import { noteEvent } from "#lib/auth/trail";
import { env } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { findLocalPath, getNetwork } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";

const targets = ["callbackURL", "errorCallbackURL", "newUserCallbackURL", "redirectTo"];

/** better-auth reads a path as text, not as a browser does. */
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

/** Each of them stores a value before the user is known. */
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

/** better-auth's own cookie keeps the choice until the second factor or the way back from a provider. */
async function carryChoice(context: HookContext): Promise<void> {
  const { name, attributes } = context.context.authCookies.dontRememberToken;
  const { path, body } = context;
  if (path === "/sign-in/social" && body?.additionalData?.remember === false) {
    await context.setSignedCookie(name, "true", context.context.secret, attributes);
  } else if (body?.rememberMe !== false && context.getCookie(name)) {
    context.setCookie(name, "", { ...attributes, maxAge: 0 });
  }
}

/** The form of a password sign-in has the choice; later steps read it from the cookie. */
export async function isRemembered(context: GenericEndpointContext | null): Promise<boolean> {
  if (!context || context.path === "/sign-in/email") return true;
  const { secret, authCookies } = context.context;
  return !(await context.getSignedCookie(authCookies.dontRememberToken.name, secret));
}

/** A program that calls the route itself may have several sign-ins. */
async function endEarlier(context: HookContext): Promise<void> {
  const { newSession, authCookies, secret, internalAdapter } = context.context;
  if (!newSession || (context.request && isGuess(context.path))) return;
  const earlier = await context.getSignedCookie(authCookies.sessionToken.name, secret);
  if (earlier && earlier !== newSession.session.token) await internalAdapter.deleteSession(earlier);
}

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

/** These hooks run after the second factor's, which removes a session that still needs the second step. */
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
