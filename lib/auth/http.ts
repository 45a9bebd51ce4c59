import "server-only";
import { isAPIError } from "better-auth/api";
import { auth, failures } from "#lib/auth/auth";
import { isGuess } from "#lib/auth/sign-in/guesses";
import { providerNames } from "#lib/auth/sign-in/providers";
import { env } from "#lib/core/env";
import { notFound, SpoorError } from "#lib/core/errors";
import { parseJson } from "#lib/core/json";
import { limits } from "#lib/core/limits";
import { clientAddress, clientAddressHeader, getNetwork } from "#lib/http/address";
import { readBody, requireJsonType } from "#lib/http/body";
import { overLimit } from "#lib/http/rate-limit";
import { canServe } from "#lib/observability/readiness";

type OpenRoute = { methods: string[]; fields: string[] };

const posted = (...fields: string[]): OpenRoute => ({ methods: ["POST"], fields });
const secondFactor = posted("code", "trustDevice");
const callback = { methods: ["GET", "POST"], fields: ["code", "state", "error", "error_description", "iss"] };

/** Server actions do everything else: they ask for the password and count wrong ones. */
const openRoutes = new Map<string, OpenRoute>([
  ["get-session", { methods: ["GET"], fields: [] }],
  ["sign-in/email", posted("email", "password", "rememberMe", "callbackURL")],
  ["sign-in/social", posted("provider", "callbackURL", "errorCallbackURL", "disableRedirect")],
  ["sign-out", posted()],
  ["two-factor/verify-totp", secondFactor],
  ["two-factor/verify-backup-code", secondFactor],
  ...Object.keys(providerNames).map((provider) => [`callback/${provider}`, callback] as const),
]);

/**
 * No other spelling of a path and no other field may reach better-auth.
 * @throws SpoorError `not_found` for other paths; `payload_too_large`, `unsupported_media_type`, `invalid_json`,
 * `invalid_request`
 */
export async function answerAuth(request: Request, path: string): Promise<Response> {
  const route = openRoutes.get(path);
  if (!route?.methods.includes(request.method)) throw notFound();
  const url = new URL(`/api/auth/${path}`, env().BASE_URL);
  url.search = new URL(request.url).search;
  return (await refuseMany(request, path)) ?? finish(await answer(await copyRequest(request, url, route)));
}

/** @throws what failed inside better-auth, except its own answers */
async function answer(request: Request): Promise<Response> {
  const failure: { error?: unknown } = {};
  const response = await failures.run(failure, () => auth().handler(request));
  if (response.status !== 500) return response;
  if (failure.error && !isAPIError(failure.error)) throw failure.error;
  // better-auth converts some database failures into its own errors.
  if (!(await canServe())) throw new SpoorError("unavailable");
  return response;
}

/** Counts calls across all web processes, except those of `limitGuess`. */
async function refuseMany({ headers }: Request, path: string): Promise<Response | undefined> {
  const network = getNetwork(clientAddress(headers));
  // Without addresses all clients would share one network.
  if (env().AUTH_RATE_LIMIT !== "on" || isGuess(`/${path}`) || network === "unknown") return undefined;
  const window = { points: limits.signIn.callsPerMinutePerNetwork, seconds: 60 };
  const wait = await overLimit("auth", `${path}:${network}`, window);
  if (wait === undefined) return undefined;
  const message = "Too many requests; wait for Retry-After.";
  return Response.json({ message }, { status: 429, headers: { "Retry-After": String(wait) } });
}

async function copyRequest(request: Request, url: URL, { fields }: OpenRoute): Promise<Request> {
  const { method } = request;
  const headers = new Headers(request.headers);
  for (const name of ["content-length", "content-type"]) headers.delete(name);
  headers.set(clientAddressHeader, clientAddress(request.headers));
  // better-auth would read a body of any size.
  const bytes = request.body ? await readBody(request, limits.maxAuthBodyBytes) : undefined;
  if (!bytes?.length) return new Request(url, { method, headers });
  const sent = read(request, bytes);
  const kept = Object.fromEntries(fields.filter((name) => Object.hasOwn(sent, name)).map((name) => [name, sent[name]]));
  // PostgreSQL refuses it, and better-auth would pass it on.
  if (Object.values(kept).some((value) => typeof value === "string" && value.includes("\0"))) {
    throw new SpoorError("invalid_request", "The body must not contain U+0000.");
  }
  headers.set("Content-Type", "application/json");
  return new Request(url, { method, headers, body: JSON.stringify(kept) });
}

function read(request: Request, bytes: Buffer): Record<string, unknown> {
  if (new URL(request.url).pathname.includes("/callback/") && !isJson(request)) {
    return Object.fromEntries(new URLSearchParams(bytes.toString("utf8")));
  }
  requireJsonType(request);
  const value = parseJson(bytes);
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw new SpoorError("invalid_request", "The body must be a JSON object.");
}

const isJson = (request: Request) => request.headers.get("content-type")?.startsWith("application/json") ?? false;

function finish(response: Response): Response {
  const { status, body } = response;
  const headers = new Headers(response.headers);
  headers.set("Cache-Control", "no-store");
  return new Response(body, { status, headers });
}
