// Logs and counts each request. A route is named by its pattern, so that nothing of a path, query or body is recorded.
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { env } from "#lib/env";
import { requestUser } from "#lib/http/arrival";
import { log } from "#lib/log";

type FindRoute = (url: string) => string;

type RoutesManifest = { staticRoutes: { page: string }[]; dynamicRoutes: { page: string; regex: string }[] };

/** Bounds the number of patterns. */
const unknown = "unknown";

/** @param manifest Next's routes, in matching order */
export function routeFinder({ staticRoutes, dynamicRoutes }: RoutesManifest): FindRoute {
  const fixed = new Set(staticRoutes.map(({ page }) => page));
  const patterns = dynamicRoutes.map(({ page, regex }) => ({ regex: new RegExp(regex), pattern: getPattern(page) }));
  return (url) => {
    const [path = ""] = url.split("?", 1);
    if (fixed.has(path)) return path;
    if (path.startsWith("/_next/")) return "/_next";
    return patterns.find(({ regex }) => regex.test(path))?.pattern ?? unknown;
  };
}

function getPattern(page: string): string {
  if (page.includes("[[...")) return unknown;
  return page.replace(/\[(?:\.\.\.)?(\w+)\]/g, "{$1}");
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Probes and pages request these constantly; logged at `debug`. */
const frequent = new Set(["/_next", "/api/health", "/api/ready", "/api/metrics"]);

/** nginx's status for a client that disconnected before the answer began */
const clientClosed = 499;

/**
 * Makes the request logger, once the application is built.
 * @returns a function for the beginning of a request, which returns one for the end of its answer
 */
export async function makeAccessLog(): Promise<(request: IncomingMessage, response: ServerResponse) => () => void> {
  const manifest = await readFile(".next/routes-manifest.json", "utf8").catch(() => undefined);
  // Development has no manifest, and counts all requests as one route.
  const findRoute = manifest === undefined ? () => unknown : routeFinder(JSON.parse(manifest));
  const observe =
    env().METRICS_TOKEN === undefined ? undefined : (await import("#lib/observability/registry")).observeRequest;
  return (request, response) => {
    const startedAt = performance.now();
    const writtenBefore = request.socket.bytesWritten;
    return () => {
      const milliseconds = performance.now() - startedAt;
      const method = knownMethods.has(request.method ?? "") ? (request.method as string) : "other";
      const route = findRoute(request.url ?? "");
      const status = response.headersSent ? response.statusCode : clientClosed;
      observe?.({ method, route, status }, milliseconds / 1000);
      const level = frequent.has(route) ? "debug" : "info";
      if (!log.isLevelEnabled(level)) return;
      log[level](
        {
          method,
          route,
          status,
          milliseconds: Math.round(milliseconds * 10) / 10,
          received: Number(request.headers["content-length"] ?? 0),
          sent: request.socket.bytesWritten - writtenBefore,
          requestId: response.getHeader("x-request-id"),
          userId: requestUser(request),
          ...(response.writableFinished ? {} : { aborted: true }),
        },
        "a request was answered",
      );
    };
  };
}
