import "server-only";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { clientFile } from "#lib/server/client-file";
import { digestOf, webDigest } from "#lib/server/sources";

const clientSources = ["cli", "package.json"];
const stamp = ".next/spoor-sources.sha256";
const clientStamp = `${clientFile}.sources.sha256`;

/**
 * Builds the web application unless there is a build of exactly these sources.
 *
 * @param say prints a line for the operator.
 * @param signal aborts the build.
 * @throws with the build's output if it fails.
 */
export async function buildIfNeeded(say: (line: string) => void, signal?: AbortSignal): Promise<void> {
  await buildClientIfNeeded();
  const wanted = await webDigest();
  const built = await readFile(stamp, "utf8").catch(() => undefined);
  if (built === wanted) return;
  say("Building the web application (once per version, about half a minute)…");
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

/**
 * Builds the client that `/spoor.mjs` serves: one file for Node 20 and later, without dependencies. It is not minified, so
 * that people can read what they run.
 */
export async function buildClientIfNeeded(): Promise<void> {
  const wanted = await digestOf(clientSources);
  const built = await readFile(clientStamp, "utf8").catch(() => undefined);
  if (built === wanted && existsSync(clientFile)) return;
  const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
  // Only a build needs the bundler.
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: "cli/main.ts",
    platform: "node",
    tsconfig: false,
    transform: { target: "node20", define: { SPOOR_VERSION: JSON.stringify(version) } },
  });
  const banner = `#!/usr/bin/env node\n// spoor ${version}: sends coding-agent sessions to a Spoor server.`;
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false, comments: { legal: false }, banner });
  await bundle.close();
  await mkdir(dirname(clientFile), { recursive: true });
  await writeFile(clientFile, output[0].code);
  await writeFile(clientStamp, wanted);
}

if (import.meta.main) await buildIfNeeded((line) => process.stdout.write(`${line}\n`));
