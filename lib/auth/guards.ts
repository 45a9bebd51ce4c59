import "server-only";
import { isAPIError } from "better-auth/api";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { cache } from "react";
import { auth } from "#lib/auth/auth";
import { readGrant } from "#lib/auth/oauth/grants";
import { type PresentedToken, requireBearer } from "#lib/auth/tokens";
import { env } from "#lib/env";
import { insufficientScope, SpoorError } from "#lib/errors";
import type { NeededScope } from "#lib/http/operation";

/** The person of a sign-in. */
export type SignedInUser = {
  id: string;
  name: string;
  email: string;
  role: string;
  twoFactorEnabled: boolean;
  signInId: string;
};

/** Who calls an API route: always a user, with a machine's token or a browser's cookie. */
export type Caller =
  | { via: "bearer"; userId: string; token: Omit<PresentedToken, "userId">; grant?: { projectId: string | null } }
  | { via: "cookie"; userId: string };

async function readUser(requestHeaders: Headers): Promise<SignedInUser | undefined> {
  const reading = auth().api.getSession({ headers: requestHeaders, query: { disableRefresh: true } });
  const found = await reading.catch((error: unknown) => {
    // better-auth logs the database's error, and throws one that no longer has its code.
    throw isAPIError(error) && error.statusCode >= 500 ? new SpoorError("unavailable") : error;
  });
  if (!found) return undefined;
  const { id, name, email, role, twoFactorEnabled } = found.user;
  const { id: signInId } = found.session;
  return { id, name, email, role: role ?? "member", twoFactorEnabled: twoFactorEnabled ?? false, signInId };
}

/** The signed-in person of the page being rendered, if any; looked up once per request. */
export const currentUser = cache(async (): Promise<SignedInUser | undefined> => readUser(await headers()));

/** Where the second factor is set up. */
const factorPage = "/settings/two-factor";

/** Whether somebody has to set up a second factor before anything else. */
const lacksFactor = ({ twoFactorEnabled }: SignedInUser) => isFactorRequired() && !twoFactorEnabled;

/** Whether the operator demands a second factor of everybody. */
export const isFactorRequired = (): boolean => env().REQUIRE_SECOND_FACTOR === "on";

/**
 * The signed-in person, for pages and server actions; everybody else is redirected to sign in and then back. So is, to set it
 * up, who lacks a second factor that the operator demands.
 *
 * @param returnTo the path to return to.
 */
export async function requireUser(returnTo: string): Promise<SignedInUser> {
  const user = await requireAnyUser(returnTo);
  if (lacksFactor(user)) redirect(`${factorPage}?next=${encodeURIComponent(returnTo)}`);
  return user;
}

/** As `requireUser`, for the page on which a second factor is set up. */
export async function requireAnyUser(returnTo: string): Promise<SignedInUser> {
  const user = await currentUser();
  if (!user) redirect(`/sign-in?next=${encodeURIComponent(returnTo)}`);
  return user;
}

/**
 * For routes of mode cookie, which accept no token. A change also has to come from this server's own pages.
 *
 * @param detail the error's detail for a caller who is not signed in.
 * @throws SpoorError `missing_token`, `access_denied`
 */
export async function requireCookie(
  request: Request,
  detail = "Sign in with a browser.",
): Promise<Caller & { via: "cookie" }> {
  const user = await readUser(request.headers);
  if (!user) throw new SpoorError("missing_token", detail);
  if (lacksFactor(user))
    throw new SpoorError("access_denied", `Set up a second factor first: ${env().BASE_URL}${factorPage}`);
  if (!["GET", "HEAD"].includes(request.method)) requireSameOrigin(request.headers);
  return { via: "cookie", userId: user.id };
}

/** For routes of mode bearer. @throws SpoorError `missing_token`, `invalid_token` */
export async function requireToken(request: Request, address: string): Promise<Caller & { via: "bearer" }> {
  const { userId, ...token } = await requireBearer(request.headers.get("authorization"), address);
  return { via: "bearer", userId, token };
}

/**
 * A browser may do everything, a token what its scopes say; what needs none is a machine's, and no agent's.
 *
 * @throws SpoorError `access_denied`
 */
export function requireScope(caller: Caller, needed: NeededScope): void {
  if (caller.via === "cookie") return;
  const { scopes, isOfAgent } = caller.token;
  if (needed !== "none" && !scopes.includes(needed)) throw insufficientScope(needed);
  if (isOfAgent) throw new SpoorError("access_denied", "An agent's token opens /mcp alone.");
}

/** As `requireScope`; the token of an agent, which has no scopes, brings its grant along. */
export async function requireScopeOrGrant(caller: Caller, needed: NeededScope): Promise<Caller> {
  if (caller.via === "bearer" && caller.token.isOfAgent) {
    const grant = await readGrant(caller.userId, caller.token.id);
    if (grant) return { ...caller, grant };
  }
  requireScope(caller, needed);
  return caller;
}

/** The user and machine of a valid token, for routes where a token is optional; an invalid one, or an agent's, counts as none. */
export async function optionalToken(
  request: Request,
  address: string,
): Promise<{ userId: string; machine: string } | undefined> {
  if (!request.headers.has("authorization")) return undefined;
  try {
    const caller = await requireToken(request, address);
    requireScope(caller, "none");
    return { userId: caller.userId, machine: caller.token.machine };
  } catch (error) {
    if (error instanceof SpoorError) return undefined;
    throw error;
  }
}

/**
 * For routes of mode cookie-or-bearer; where a token is sent, the cookie is ignored.
 *
 * @throws SpoorError `missing_token`, `invalid_token`, `access_denied`
 */
export async function requireCaller(request: Request, address: string): Promise<Caller> {
  if (request.headers.has("authorization")) return requireToken(request, address);
  return requireCookie(request, "Sign in, or send a token: Authorization: Bearer <token>.");
}

/**
 * Refuses a request that did not come from this server's own pages. Browsers send `Origin` with every request that changes
 * something, so a missing one is refused too.
 *
 * @throws SpoorError `access_denied`
 */
export function requireSameOrigin(requestHeaders: Headers): void {
  const site = requestHeaders.get("sec-fetch-site");
  const sameOrigin = requestHeaders.get("origin") === new URL(env().BASE_URL).origin;
  if (!sameOrigin || (site !== null && site !== "same-origin")) {
    throw new SpoorError("access_denied");
  }
}
