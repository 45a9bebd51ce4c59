import "server-only";
import type { z } from "zod";
import {
  type Caller,
  requireCaller,
  requireCookie,
  requireScope,
  requireScopeOrGrant,
  requireToken,
} from "#lib/auth/guards";
import { oauthAddresses } from "#lib/auth/oauth/protocol";
import { forRequest, requestSignal } from "#lib/core/current-request";
import { notFound, SpoorError } from "#lib/core/errors";
import { fieldErrors } from "#lib/core/fields";
import { log } from "#lib/core/log";
import { operatorCommand } from "#lib/core/variables/operator-command";
import { clientAddress } from "#lib/http/address";
import { recordRequestUser } from "#lib/http/arrival";
import { readJson } from "#lib/http/body";
import { getRequestId } from "#lib/http/headers";
import type { Authorization, Mode } from "#lib/http/operation";
import { problemResponse, toSpoorError } from "#lib/http/problem";
import { countError } from "#lib/observability/counters";
import { isUnmigrated } from "#lib/observability/readiness";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
type Method = (typeof methods)[number];

type Handler = {
  (request: Request, context: { params: Promise<unknown> }): Promise<Response>;
  declared?: object;
};

type EndpointOptions<P, Q, B, R> = Authorization & {
  path?: string;
  params?: z.ZodType<P>;
  query?: z.ZodType<Q>;
  body?: { schema: z.ZodType<B>; maxBytes: number };
  response?: z.ZodType<R>;
};

type Input<M extends Mode, P, Q, B> = {
  request: Request;
  requestId: string;
  address: string;
  caller: M extends "none" ? undefined : M extends "bearer" | "cookie" ? Caller & { via: M } : Caller;
  params: P;
  query: Q;
  body: B;
};

class Reply<R> {
  readonly data: R;
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(data: R, status: number, headers: Record<string, string>) {
    this.data = data;
    this.status = status;
    this.headers = headers;
  }
}

export const reply = <R>(data: R, status: number, headers: Record<string, string> = {}) =>
  new Reply(data, status, headers);

export const noContent = () => new Response(null, { status: 204 });

/**
 * The caller is authorized before the body is read, and a malformed path parameter is 404 whatever the caller's scopes.
 */
export function endpoint<M extends Mode, P = unknown, Q = unknown, B = undefined, R = unknown>(
  options: EndpointOptions<P, Q, B, R> & { auth: M },
  handle: (input: Input<M, P, Q, B>) => Promise<R | Reply<R> | Response> | R,
): Handler {
  const answer: Handler = async (request, context) => {
    const requestId = getRequestId(request);
    try {
      const address = clientAddress(request.headers);
      let caller = await authorize(options.auth, request, address);
      if (caller) recordRequestUser(request, caller.userId);
      const params = options.params ? parseParams(options.params, await context.params) : undefined;
      if (caller && options.scope && options.agents) caller = await requireScopeOrGrant(caller, options.scope);
      else if (caller && options.scope) requireScope(caller, options.scope);
      const query = options.query ? parse(options.query, readQuery(request)) : undefined;
      const body = options.body
        ? parse(options.body.schema, await readJson(request, options.body.maxBytes))
        : undefined;
      const input = { request, requestId, address, caller, params, query, body };
      return finish(await handle(input as Input<M, P, Q, B>), options.response, requestId);
    } catch (error) {
      const known = (await isUnmigrated(error)) ? unmigrated(error, requestId) : toSpoorError(error, requestId);
      if (!requestSignal()?.aborted) countError(options.path ?? "unknown", known.code);
      return problemResponse(known, requestId, {}, options.agents && oauthAddresses().resourceMetadata);
    }
  };
  const handler: Handler = (request, context) => {
    const work = () => answer(request, context);
    if (requestSignal()) return work();
    return forRequest({ signal: request.signal, address: clientAddress(request.headers) }, work);
  };
  handler.declared = options;
  return handler;
}

/** Next's own 405 has no body. @param options.head false if a GET changes something */
export function route(
  endpoints: Partial<Record<Exclude<Method, "HEAD" | "OPTIONS">, Handler>>,
  options: { head?: boolean } = {},
): Record<Method, Handler> {
  const { GET } = endpoints;
  const known: Partial<Record<Method, Handler>> = { ...endpoints };
  if (GET && options.head !== false) {
    known.HEAD = async (request, context) => {
      const { status, headers, body } = await GET(request, context);
      await body?.cancel();
      return new Response(null, { status, headers });
    };
  }
  const allow = [...methods.filter((method) => known[method]), "OPTIONS"].join(", ");
  known.OPTIONS = async (request) => {
    const headers = { Allow: allow, "Cache-Control": "no-store", "X-Request-Id": getRequestId(request) };
    return new Response(null, { status: 204, headers });
  };
  const refuse: Handler = async (request) => {
    const error = new SpoorError("method_not_allowed", `This path supports ${allow}.`);
    return problemResponse(error, getRequestId(request), { Allow: allow });
  };
  return Object.fromEntries(methods.map((method) => [method, known[method] ?? refuse])) as Record<Method, Handler>;
}

function unmigrated(error: unknown, requestId: string): SpoorError {
  log.warn({ err: error, requestId }, `the database is not migrated to this version: ${operatorCommand("migrate")}`);
  return new SpoorError("unavailable");
}

function authorize(mode: Mode, request: Request, address: string): Promise<Caller> | undefined {
  if (mode === "bearer") return requireToken(request, address);
  if (mode === "cookie") return requireCookie(request);
  if (mode === "cookie-or-bearer") return requireCaller(request, address);
  return undefined;
}

function finish<R>(result: R | Reply<R> | Response, schema: z.ZodType<R> | undefined, requestId: string): Response {
  if (result instanceof Response) {
    result.headers.set("X-Request-Id", requestId);
    // Only `/spoor.mjs` sets one.
    if (!result.headers.has("Cache-Control")) result.headers.set("Cache-Control", "no-store");
    return result;
  }
  const { data, status, headers } = result instanceof Reply ? result : new Reply(result, 200, {});
  const base = { "Content-Type": "application/json", "Cache-Control": "no-store", "X-Request-Id": requestId };
  const body = JSON.stringify(schema ? schema.parse(data) : data);
  return new Response(body, { status, headers: { ...base, ...headers } });
}

/** A repeated parameter becomes an array, which no schema takes. */
function readQuery(request: Request): Record<string, string | string[]> {
  const { searchParams } = new URL(request.url);
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((key) => {
      const values = searchParams.getAll(key);
      return [key, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}

/** @throws SpoorError `invalid_request` with the failing paths */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new SpoorError("invalid_request", undefined, { errors: fieldErrors(parsed.error) });
}

/** @throws SpoorError `not_found`, since an id that is not a UUID names nothing */
function parseParams<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw notFound();
}
