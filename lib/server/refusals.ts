// Requests that never reach Next, because Next would answer them without a request id or a problem body. What Node's parser refuses,
// Node answers itself.
import type { IncomingMessage } from "node:http";
import { parseAndValidateFlightRouterState } from "next/dist/server/app-render/parse-and-validate-flight-router-state.js";
import { notFound, SpoorError } from "#lib/errors";
import { problemResponse } from "#lib/http/problem";
import { limits } from "#lib/limits";

const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The limit of a request's headers. */
export const maxHeaderBytes = limits.request.headerBytes;

/** Names outside `/api` of routes of the API (next.config.ts). */
const otherNames = /^\/(?:mcp|\.well-known\/oauth-(?:protected-resource(?:\/mcp)?|authorization-server))(?:\?|$)/;

export const isApi = (url = "") => /^\/api(?:[/?]|$)/.test(url) || otherNames.test(url);

const methodRefusal = (requestId: string, detail?: string, allow = knownMethods.join(", ")) =>
  problemResponse(new SpoorError("method_not_allowed", detail), requestId, { Allow: allow });

/** The response to a page or a form where too many of its network wait. */
export const refuseBusy = (requestId: string) =>
  problemResponse(
    new SpoorError("overloaded", "Too many pages were asked for at once. Try again in a moment."),
    requestId,
  );

const { maxPageBodyBytes } = limits;

const tooLarge = (requestId: string) =>
  problemResponse(
    new SpoorError("payload_too_large", `A form is over the limit of ${maxPageBodyBytes} bytes.`),
    requestId,
  );

/** Tells the paths of static files. */
type StaticPaths = { has(path: string): boolean };

/**
 * The response to a request that Next would not answer as the interface demands; undefined for any other.
 *
 * @param files the paths of static files; undefined in development, where Next has paths of its own
 */
export function findRefusal(request: IncomingMessage, requestId: string, files: StaticPaths | undefined): Response | undefined {
  const { method = "", url = "", headers } = request;
  const missing = () => problemResponse(notFound(), requestId);
  if (!knownMethods.includes(method)) return methodRefusal(requestId);
  // A whole URL, which only proxies are asked for, or the `*` of OPTIONS.
  if (!url.startsWith("/")) return missing();
  const [path = ""] = url.split("?");
  // Next would take them away and answer for another path than the one that is looked at here; clients do so themselves.
  if (/\/(?:\.|%2e){1,2}(?:[/\\#]|$)/i.test(path)) return missing();
  // A page of Next's would be a 500.
  if (decoded(path) === undefined) return missing();
  // Next reads a parameter that is repeated in a time that grows with the square of how often it is.
  if (url.split("&").length > limits.request.parameters) {
    const detail = `The URL has more than ${limits.request.parameters} parameters.`;
    return problemResponse(new SpoorError("invalid_request", detail), requestId);
  }
  // In production Next has only static files under /_next/.
  if (files && path.startsWith("/_next/") && !path.startsWith("/_next/static/")) return missing();
  // Pages that Next renders by itself, one of them always with 500.
  if (files && /^\/_(?!next(?:\/|$))/.test(fileName(path))) return missing();
  // Next would redirect to the path with single slashes and without backslashes.
  if (isApi(url)) return /\/\/|\\/.test(path) ? missing() : undefined;
  if (Number(headers["content-length"] ?? 0) > maxPageBodyBytes) return tooLarge(requestId);
  if (!hasRouterState(request)) {
    const detail = "Next-Router-State-Tree is not as this application's pages send it.";
    return problemResponse(new SpoorError("invalid_request", detail), requestId);
  }
  const methods = files && listMethods(path, files);
  if (!methods || methods.includes(method)) return undefined;
  const allow = methods.join(", ");
  return methodRefusal(requestId, `This path takes ${allow}.`, allow);
}

/** A path as a static file has it, however it is written. */
export const fileName = (path: string): string => (decoded(path) ?? path).replace(/\/$/, "");

/**
 * The methods of what is not of the API: Next would answer others with a page as for GET, with 400, or with 500. Undefined for
 * what answers them itself.
 */
function listMethods(path: string, files: StaticPaths): string[] | undefined {
  const name = fileName(path);
  if (files.has(name)) return ["GET", "HEAD"];
  // A route handler, and files that are missing.
  if (/^\/(?:spoor\.mjs$|_next\/)/.test(name)) return undefined;
  return ["GET", "HEAD", "POST"]; // a page; a form is sent to it
}

/** Whether the header with which Next's client says what it shows can be read: Next would answer any other with 500. */
function hasRouterState({ headers }: IncomingMessage): boolean {
  try {
    parseAndValidateFlightRouterState(headers["next-router-state-tree"]);
    return true;
  } catch {
    return false;
  }
}

/** Names are shorter, and what is stored of one is (lib/auth/audit.ts). */
const maxAgentCharacters = 512;

/** Shortens `User-Agent`: Next looks in it for robots at every page, in a time that grows with the square of its length. */
export function cutUserAgent({ headers }: IncomingMessage): void {
  const agent = headers["user-agent"];
  if (agent !== undefined) headers["user-agent"] = agent.slice(0, maxAgentCharacters);
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
