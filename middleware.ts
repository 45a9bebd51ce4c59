import { type NextRequest, NextResponse } from "next/server";
import { requestIdHeader } from "#lib/http/request-id";

// The proxy of pages, never of the API, of uploads, or of the client that is delivered: Next buffers and cuts the bodies of
// what a middleware matches.
export const config = {
  matcher: ["/((?!api(?:/|$)|upload/file$|_next/|icon\\.svg$|favicon\\.ico$|robots\\.txt$|spoor\\.mjs$).*)"],
};

const sessionCookie = "authlib.session_token";
const signedInOnly = /^\/(traces|uploads?|usage|devices|diagnostics|settings)(\/|$)/;

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
 * Gives every page its headers and its nonce, and sends those without a session's cookie to sign in. Whether the
 * cookie is worth anything is for `requireUser` in each page to say.
 */
export function middleware(request: NextRequest): NextResponse {
  const policy = contentPolicy(btoa(crypto.randomUUID()));
  const requestId = crypto.randomUUID();
  const response = toSignIn(request) ?? pass(request, policy, requestId);
  response.headers.set("content-security-policy", policy);
  response.headers.set("x-frame-options", "DENY");
  response.headers.set("referrer-policy", "no-referrer");
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("cache-control", "no-store");
  response.headers.set("x-robots-tag", "noindex, nofollow");
  response.headers.set("x-request-id", requestId);
  return response;
}

function toSignIn({ nextUrl, cookies }: NextRequest): NextResponse | undefined {
  if (cookies.has(sessionCookie) || !signedInOnly.test(nextUrl.pathname)) return undefined;
  const target = new URL("/sign-in", nextUrl);
  target.searchParams.set("next", nextUrl.pathname + nextUrl.search);
  return NextResponse.redirect(target, 303);
}

/** Next takes the nonce for its own scripts out of the request's policy. */
function pass(request: NextRequest, policy: string, requestId: string): NextResponse {
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  headers.set("x-nonce", /'nonce-([^']+)'/.exec(policy)?.[1] ?? "");
  headers.set(requestIdHeader, requestId);
  return NextResponse.next({ request: { headers } });
}
