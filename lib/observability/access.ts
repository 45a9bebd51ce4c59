// Log lines and metrics name a route by its pattern and contain nothing of the path, query or bodies.
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { env } from "#lib/core/env";
import { log } from "#lib/core/log";
import { requestUser } from "#lib/http/arrival";

type FindRoute = (url: string) => string;

type RoutesManifest = { staticRoutes: { page: string }[]; dynamicRoutes: { page: string; regex: string }[] };

/** Stands for every path without a route, so that the number of patterns is bounded. */
const unknown = "unknown";

/** @param manifest Next's list of its routes, in matching order */
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

/** Probes and every page request these constantly, so they are logged at `debug`. */
const frequent = new Set(["/_next", "/api/health", "/api/ready", "/api/metrics"]);

/** nginx's status for a client that disconnected before the answer began. */
const clientClosed = 499;

/** @returns a function to call when a request begins; it returns one to call when its answer ends */
export async function makeAccessLog(): Promise<(request: IncomingMessage, response: ServerResponse) => () => void> {
  const manifest = await readFile(".next/routes-manifest.json", "utf8").catch(() => undefined);
  // In development there is no manifest, and all requests count as one route.
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
