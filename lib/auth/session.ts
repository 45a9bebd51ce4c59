import "server-only";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { cache } from "react";
import { auth } from "#lib/auth/auth";
import { requireBearer } from "#lib/auth/tokens";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";

/** The person of a browser session. */
export type SessionUser = {
  id: string;
  name: string;
  email: string;
  role: string;
  twoFactorEnabled: boolean;
  sessionId: string;
};

/** Who calls an API route: always a user, by a machine's token or by a browser's session. */
export type Caller =
  | { via: "bearer"; userId: string; token: { id: string; machine: string; createdAt: Date; expiresAt: Date } }
  | { via: "cookie"; userId: string };

async function userOf(requestHeaders: Headers): Promise<SessionUser | undefined> {
  const found = await auth().api.getSession({ headers: requestHeaders, query: { disableRefresh: true } });
  if (!found) return undefined;
  const { id, name, email, role, twoFactorEnabled } = found.user;
  const { id: sessionId } = found.session;
  return { id, name, email, role: role ?? "member", twoFactorEnabled: twoFactorEnabled ?? false, sessionId };
}

/** The signed-in person of the page that is being rendered, if any; looked up once for all of its parts. */
export const currentUser = cache(async (): Promise<SessionUser | undefined> => userOf(await headers()));

/**
 * The signed-in person, for pages and server actions; everybody else is sent to sign in and then back.
 *
 * @param returnTo the path to come back to.
 */
export async function requireUser(returnTo: string): Promise<SessionUser> {
  const user = await currentUser();
  if (!user) redirect(`/sign-in?next=${encodeURIComponent(returnTo)}`);
  return user;
}

/**
 * For routes of mode cookie, which no token opens. A cookie alone does not authorize a change that another site's page
 * asks for.
 *
 * @param detail what a caller without a session is told.
 * @throws SpoorError `missing_token`, `access_denied`
 */
export async function requireCookie(
  request: Request,
  detail = "Sign in with a browser.",
): Promise<Caller & { via: "cookie" }> {
  const user = await userOf(request.headers);
  if (!user) throw new SpoorError("missing_token", detail);
  if (!["GET", "HEAD"].includes(request.method)) requireSameOrigin(request.headers);
  return { via: "cookie", userId: user.id };
}

/** For routes of mode bearer. @throws SpoorError `missing_token`, `invalid_token` */
export async function requireToken(request: Request, address: string): Promise<Caller & { via: "bearer" }> {
  const { userId, ...token } = await requireBearer(request.headers.get("authorization"), address);
  return { via: "bearer", userId, token };
}

/** Whom a valid token names, and of which machine, for a route that works without one; anything else counts as none. */
export async function optionalToken(
  request: Request,
  address: string,
): Promise<{ userId: string; machine: string } | undefined> {
  if (!request.headers.has("authorization")) return undefined;
  try {
    const { userId, token } = await requireToken(request, address);
    return { userId, machine: token.machine };
  } catch (error) {
    if (error instanceof SpoorError) return undefined;
    throw error;
  }
}

/**
 * For routes of mode cookie-or-bearer; a presented token is never overlooked in favour of a cookie.
 *
 * @throws SpoorError `missing_token`, `invalid_token`, `access_denied`
 */
export async function requireCaller(request: Request, address: string): Promise<Caller> {
  if (request.headers.has("authorization")) return requireToken(request, address);
  return requireCookie(request, "Sign in, or send a token: Authorization: Bearer <token>.");
}

/**
 * Refuses a browser's request that another site's page made. A browser names its page's origin on every request that
 * changes something, so a missing Origin is refused as well.
 *
 * @throws SpoorError `access_denied`
 */
export function requireSameOrigin(requestHeaders: Headers): void {
  const site = requestHeaders.get("sec-fetch-site");
  const sameOrigin = requestHeaders.get("origin") === new URL(env().BASE_URL).origin;
  if (!sameOrigin || (site !== null && site !== "same-origin")) {
    throw new SpoorError("access_denied", "The request did not come from this server's own pages.");
  }
}
