import { randomBytes } from "node:crypto";
import { type NextRequest, NextResponse } from "next/server";
import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { clientAddress } from "#lib/http/address";
import { callsAction, isUnreadable } from "#lib/http/form-body";
import { getRequestId, requestIdHeader, securityHeaders, transportHeaders } from "#lib/http/headers";
import { problemResponse } from "#lib/http/problem";
import { overShareLimit, sharedTokenHeader } from "#lib/shares/share-limits";
import { refuseReader } from "./app/shared/refusal";

// Pages only: Next buffers and cuts the bodies of what a middleware matches.
export const config = {
  // Counts the readers of shared sessions in the database, since a page can't set its own status.
  runtime: "nodejs",
  matcher: [
    "/((?!api(?:/|$)|mcp$|\\.well-known/oauth-|_next/|icon\\.svg$|agents\\.svg$|robots\\.txt$|spoor\\.mjs$).*)",
  ],
};

const sessionCookie = "authlib.session_token";
const signedInOnly = /^\/(home|traces|uploads?|usage|devices|diagnostics|settings)(\/|$)/;

/** Another spelling of a link must not have a rate limit of its own. */
function sharedToken({ nextUrl }: NextRequest): string {
  const [, segment = ""] = /^\/shared\/([^/]+)/.exec(nextUrl.pathname) ?? [];
  try {
    return encodeURIComponent(decodeURIComponent(segment));
  } catch {
    return segment;
  }
}

function contentPolicy(nonce: string): string {
  const script = process.env.NODE_ENV === "development" ? " 'unsafe-eval'" : "";
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${script}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * Gives every page its headers and nonce, and redirects those without a session cookie; `requireUser` checks the cookie
 * in each page.
 */
export async function middleware(request: NextRequest): Promise<NextResponse> {
  const nonce = randomBytes(16).toString("base64");
  const policy = contentPolicy(nonce);
  const requestId = getRequestId(request);
  const response =
    refuseForeign(request, requestId) ??
    toSignIn(request) ??
    (await refusal(request, nonce, requestId)) ??
    (await refuseUnreadable(request, requestId)) ??
    pass(request, policy, nonce, requestId);
  const fixed = { ...securityHeaders, ...transportHeaders(env().BASE_URL) };
  for (const [name, value] of Object.entries(fixed)) response.headers.set(name, value);
  response.headers.set("content-security-policy", policy);
  response.headers.set("cache-control", "no-store");
  response.headers.set("x-robots-tag", "noindex, nofollow");
  response.headers.set("x-request-id", requestId);
  return response;
}

/**
 * Next would answer a form of another site with 500. A proxy may drop the port that a browser sees, so `BASE_URL`
 * counts as an own origin too.
 */
function refuseForeign(request: NextRequest, requestId: string): NextResponse | undefined {
  const { method, headers } = request;
  const origin = headers.get("origin");
  if (method === "GET" || method === "HEAD" || origin === ownOrigin().origin) return undefined;
  if (origin === null && !callsAction(request)) return undefined;
  const [forwarded] = headers.get("x-forwarded-host")?.split(",") ?? [];
  const host = forwarded?.trim() || headers.get("host");
  if (origin !== null && URL.canParse(origin) && new URL(origin).host === host) return undefined;
  return refuse(new SpoorError("access_denied", "The request does not come from this server's own pages."), requestId);
}

const ownOrigin = () => new URL(env().BASE_URL);

async function refuseUnreadable(request: NextRequest, requestId: string): Promise<NextResponse | undefined> {
  if (!(await isUnreadable(request))) return undefined;
  return refuse(new SpoorError("invalid_request", "The form's body is not whole, or not a form."), requestId);
}

function refuse(error: SpoorError, requestId: string): NextResponse {
  const problem = problemResponse(error, requestId);
  return new NextResponse(problem.body, problem);
}

function toSignIn({ nextUrl, cookies }: NextRequest): NextResponse | undefined {
  if (cookies.has(sessionCookie) || !signedInOnly.test(nextUrl.pathname)) return undefined;
  const target = new URL("/sign-in", nextUrl);
  target.searchParams.set("next", nextUrl.pathname + nextUrl.search);
  return NextResponse.redirect(target, 303);
}

async function refusal(request: NextRequest, nonce: string, requestId: string): Promise<NextResponse | undefined> {
  const token = sharedToken(request);
  const seconds = token && (await overShareLimit(token, clientAddress(request.headers)));
  return seconds ? refuseReader(request, { seconds, nonce, requestId }) : undefined;
}

/** Next reads the nonce from the request's policy, and compares an action's Origin with the forwarded host. */
function pass(request: NextRequest, policy: string, nonce: string, requestId: string): NextResponse {
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  headers.set("x-nonce", nonce);
  headers.set(requestIdHeader, requestId);
  headers.set(sharedTokenHeader, sharedToken(request));
  const { origin, host } = ownOrigin();
  if (headers.get("origin") === origin) headers.set("x-forwarded-host", host);
  return NextResponse.next({ request: { headers } });
}
