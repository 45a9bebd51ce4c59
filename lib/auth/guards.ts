import "server-only";
import { isAPIError } from "better-auth/api";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { cache } from "react";
import { auth } from "#lib/auth/auth";
import { readGrant } from "#lib/auth/oauth/grants";
import { type PresentedToken, requireBearer } from "#lib/auth/tokens";
import { env } from "#lib/core/env";
import { insufficientScope, SpoorError } from "#lib/core/errors";
import type { NeededScope } from "#lib/http/operation";

export type SignedInUser = {
  id: string;
  name: string;
  email: string;
  role: string;
  twoFactorEnabled: boolean;
  signInId: string;
};

export type Caller =
  | { via: "bearer"; userId: string; token: Omit<PresentedToken, "userId">; grant?: { projectId: string | null } }
  | { via: "cookie"; userId: string };

async function readUser(requestHeaders: Headers): Promise<SignedInUser | undefined> {
  const reading = auth().api.getSession({ headers: requestHeaders, query: { disableRefresh: true } });
  const found = await reading.catch((error: unknown) => {
    // better-auth logs the database's error, and throws one without its code.
    throw isAPIError(error) && error.statusCode >= 500 ? new SpoorError("unavailable") : error;
  });
  if (!found) return undefined;
  const { id, name, email, role, twoFactorEnabled } = found.user;
  const { id: signInId } = found.session;
  return { id, name, email, role: role ?? "member", twoFactorEnabled: twoFactorEnabled ?? false, signInId };
}

export const currentUser = cache(async (): Promise<SignedInUser | undefined> => readUser(await headers()));

const factorPage = "/settings/two-factor";

const lacksFactor = ({ twoFactorEnabled }: SignedInUser) => isFactorRequired() && !twoFactorEnabled;

export const isFactorRequired = (): boolean => env().REQUIRE_SECOND_FACTOR === "on";

/** For pages and server actions. Redirects to the sign-in and back, or to the required second factor. */
export async function requireUser(returnTo: string): Promise<SignedInUser> {
  const user = await requireAnyUser(returnTo);
  if (lacksFactor(user)) redirect(`${factorPage}?next=${encodeURIComponent(returnTo)}`);
  return user;
}

/** As `requireUser`, without a second factor: for the page that sets it up. */
export async function requireAnyUser(returnTo: string): Promise<SignedInUser> {
  const user = await currentUser();
  if (!user) redirect(`/sign-in?next=${encodeURIComponent(returnTo)}`);
  return user;
}

/** For routes of mode cookie; a change has to come from this server's own pages. */
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

/** For routes of mode bearer. */
export async function requireToken(request: Request, address: string): Promise<Caller & { via: "bearer" }> {
  const { userId, ...token } = await requireBearer(request.headers.get("authorization"), address);
  return { via: "bearer", userId, token };
}

/** A browser may do everything, a token what its scopes allow; without a scope only a machine's token is enough. */
export function requireScope(caller: Caller, needed: NeededScope): void {
  if (caller.via === "cookie") return;
  const { scopes, isOfAgent } = caller.token;
  if (needed !== "none" && !scopes.includes(needed)) throw insufficientScope(needed);
  if (isOfAgent) throw new SpoorError("access_denied", "An agent's token only works for /mcp.");
}

/** As `requireScope`; an agent's token, which has no scopes, brings its grant. */
export async function requireScopeOrGrant(caller: Caller, needed: NeededScope): Promise<Caller> {
  if (caller.via === "bearer" && caller.token.isOfAgent) {
    const grant = await readGrant(caller.userId, caller.token.id);
    if (grant) return { ...caller, grant };
  }
  requireScope(caller, needed);
  return caller;
}

/** An invalid token, or an agent's, counts as none. */
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

/** For routes of mode cookie-or-bearer; a token takes precedence. */
export async function requireCaller(request: Request, address: string): Promise<Caller> {
  if (request.headers.has("authorization")) return requireToken(request, address);
  return requireCookie(request, "Sign in, or send a token: Authorization: Bearer <token>.");
}

/** Browsers send `Origin` with every change, so a missing one is refused. */
export function requireSameOrigin(requestHeaders: Headers): void {
  const site = requestHeaders.get("sec-fetch-site");
  const sameOrigin = requestHeaders.get("origin") === new URL(env().BASE_URL).origin;
  if (!sameOrigin || (site !== null && site !== "same-origin")) {
    throw new SpoorError("access_denied");
  }
}
