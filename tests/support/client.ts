import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export type Ended = { code: number | null; output: string; errors: string };

/**
 * Provides the client with a temporary home folder, removed after the file's last test.
 *
 * @param program the arguments of `node`: the delivered file, or the client's source
 */
export async function provideClient(program: (folder: string) => Promise<string> | string) {
  const home = await mkdtemp(join(tmpdir(), "spoor-client-"));
  afterAll(() => rm(home, { recursive: true, force: true }));
  const file = await program(home);
  const start = (words: string[], environment: Record<string, string> = {}): ChildProcess =>
    spawn(process.execPath, [file, ...words], {
      cwd: home,
      env: { NODE_ENV: "production", PATH: process.env.PATH, HOME: home, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
  const run = async (words: string[], environment?: Record<string, string>) => ended(start(words, environment));
  return { home, start, run };
}

/** Waits for a process's end. @returns its output and exit code */
export async function ended(child: ChildProcess): Promise<Ended> {
  let [output, errors] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output, errors };
}

/** Waits until a process's output matches a pattern. @returns the match */
export async function wrote(child: ChildProcess, pattern: RegExp, seconds = 20): Promise<RegExpExecArray> {
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  let text = "";
  const timer = setTimeout(() => reject(new Error(`not written within ${seconds} s; so far: ${text}`)), seconds * 1000);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (match) resolve(match);
    });
  }
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Downloads the client from a server, as `curl -fsSO` does. @returns its path */
export async function download(url: string, folder: string): Promise<string> {
  const response = await fetch(`${url}/spoor.mjs`);
  if (!response.ok) throw new Error(`${url}/spoor.mjs answered ${response.status}`);
  const path = join(folder, "spoor.mjs");
  await writeFile(path, await response.text());
  return path;
}
