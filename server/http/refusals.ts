// Next would answer these requests without a problem body, or with 500.
import type { IncomingMessage } from "node:http";
import { parseAndValidateFlightRouterState } from "next/dist/server/app-render/parse-and-validate-flight-router-state.js";
import { type ErrorCode, notFound, SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { problemResponse } from "#lib/http/problem";

const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const pageMethods = ["GET", "HEAD", "POST"];
const fileMethods = ["GET", "HEAD"];
const { maxPageBodyBytes } = limits;

/** Routes of the API with names outside `/api` (next.config.ts). */
const otherNames = /^\/(?:mcp|\.well-known\/oauth-(?:protected-resource(?:\/mcp)?|authorization-server))(?:\?|$)/;
const publicFiles = /^\/(?:icon\.svg|agents\.svg|robots\.txt)\/?(?:\?|$)/;

export const isApi = (url = "") => /^\/api(?:[/?]|$)/.test(url) || otherNames.test(url);

export const isPage = ({ url = "" }: IncomingMessage): boolean =>
  !isApi(url) && !publicFiles.test(url) && !/^\/(?:_next\/|spoor\.mjs(?:\?|$))/.test(url);

export const refuseBusy = (requestId: string) =>
  problemResponse(
    new SpoorError("overloaded", "Too many pages were requested at once. Try again in a moment."),
    requestId,
  );

export function findRefusal(request: IncomingMessage, requestId: string, isDevelopment = false): Response | undefined {
  const { method = "", url = "", headers } = request;
  const missing = () => problemResponse(notFound(), requestId);
  const refuse = (code: ErrorCode, detail?: string) => problemResponse(new SpoorError(code, detail), requestId);
  const refuseMethod = (methods: string[], detail?: string) =>
    problemResponse(new SpoorError("method_not_allowed", detail), requestId, { Allow: methods.join(", ") });
  if (!knownMethods.includes(method)) return refuseMethod(knownMethods);
  if (!url.startsWith("/")) return missing(); // a proxy's form, or the `*` of OPTIONS
  const [path = ""] = url.split("?");
  const name = decode(path);
  // Next would resolve dot segments and answer for another path than the one checked here.
  if (name === undefined || /\/(?:\.|%2e){1,2}(?:[/\\#]|$)/i.test(path)) return missing();
  // Next reads a repeated parameter in quadratic time.
  if (url.split("&").length > limits.request.parameters)
    return refuse("invalid_request", `The URL has more than ${limits.request.parameters} parameters.`);
  // Next renders some internal pages under such names, one of them with 500.
  if (!isDevelopment && /^\/_/.test(name) && !path.startsWith("/_next/static/")) return missing();
  // Next would redirect to single slashes, without the headers of an API response.
  if (isApi(url)) return /\/\/|\\/.test(path) ? missing() : undefined;
  if (Number(headers["content-length"] ?? 0) > maxPageBodyBytes)
    return refuse("payload_too_large", `A form is over the limit of ${maxPageBodyBytes} bytes.`);
  if (!hasRouterState(request)) return refuse("invalid_request", "Next-Router-State-Tree is not valid.");
  const isFile = publicFiles.test(name) || name.startsWith("/_next/static/");
  const methods = isFile ? fileMethods : isPage(request) ? pageMethods : knownMethods;
  if (isDevelopment || methods.includes(method)) return undefined;
  return refuseMethod(methods, `This path supports ${methods.join(", ")}.`);
}

function hasRouterState({ headers }: IncomingMessage): boolean {
  try {
    parseAndValidateFlightRouterState(headers["next-router-state-tree"]);
    return true;
  } catch {
    return false;
  }
}

/** lib/auth/audit.ts stores as many. */
const maxAgentCharacters = 512;

/** Shortens `User-Agent`, which Next searches for robots in quadratic time. */
export function cutUserAgent({ headers }: IncomingMessage): void {
  const agent = headers["user-agent"];
  if (agent !== undefined) headers["user-agent"] = agent.slice(0, maxAgentCharacters);
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
