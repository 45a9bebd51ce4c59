import { expect, test } from "vitest";
import { routeFinder } from "#lib/observability/access";

const getRoute = routeFinder({
  staticRoutes: [{ page: "/" }, { page: "/api/ingest" }, { page: "/traces" }],
  dynamicRoutes: [
    { page: "/api/auth/[...all]", regex: "^/api/auth/(.+?)(?:/)?$" },
    { page: "/api/ingest/[jobId]", regex: "^/api/ingest/([^/]+?)(?:/)?$" },
    { page: "/api/[[...path]]", regex: "^/api(?:/(.+?))?(?:/)?$" },
    { page: "/traces/[id]", regex: "^/traces/([^/]+?)(?:/)?$" },
  ],
});

test.each([
  ["/", "/"],
  ["/?token=secret", "/"],
  ["/api/ingest", "/api/ingest"],
  ["/api/ingest?x=1", "/api/ingest"],
  ["/api/ingest/0190", "/api/ingest/{jobId}"],
  ["/api/auth/sign-in/email", "/api/auth/{all}"],
  ["/api/cli/device/poll?deviceCode=secret", "unknown"],
  ["/api/whatever/a/client/makes/up", "unknown"],
  ["/traces/0190?q=secret", "/traces/{id}"],
  ["/_next/static/chunks/1.js", "/_next"],
  ["/nothing/secret", "unknown"],
  ["*", "unknown"],
])("%s is logged as %s", (url, pattern) => {
  expect(getRoute(url)).toBe(pattern);
});
