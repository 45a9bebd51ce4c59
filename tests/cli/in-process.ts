import { readFile } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { makeTerminal, runClient } from "../../cli/client.ts";
import { running } from "../../cli/program.ts";
import type { Ended } from "../support/client.ts";

/**
 * Runs the client's command line in the test's own process, which takes a hundredth of the time of starting one. What only a
 * process of its own has (signals, preloads, processes of its own, a limit of memory) needs `start`.
 */
export async function runInProcess(
  words: string[],
  home: string,
  more: Record<string, string> = {},
  platform = process.platform,
): Promise<Ended> {
  if (more.NODE_OPTIONS !== undefined) throw new Error("NODE_OPTIONS are for a process: use `spawn`");
  const env = { NODE_ENV: "production", PATH: process.env.PATH, HOME: home, ...more };
  const written = { output: "", errors: "" };
  const stream = (name: keyof typeof written) => ({
    write: (text: string) => (written[name] += text),
    on: () => {},
  });
  const input = () => new PassThrough().end() as unknown as NodeJS.ReadStream;
  const terminal = makeTerminal(words, env, { output: stream("output"), errors: stream("errors"), input });
  const { signal } = new AbortController();
  const surroundings = { home: () => env.HOME, cwd: home, env, platform, terminal, signal };
  const code = await runClient(words, surroundings);
  return { code, ...written };
}

/** As `runInProcess`, for a client that takes itself for a delivered file. One at a time. */
export async function runFile(file: string, ...run: Parameters<typeof runInProcess>): Promise<Ended> {
  const text = await readFile(file, "utf8");
  const before = { ...running };
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
  const [version, deliveredBy] = [find(/^\/\/ spoor (\S+):/m), find(/\bdeliveredBy: "(.*?)"/)];
  if (!version || !deliveredBy) throw new Error(`${file} is no client`);
  Object.assign(running, { file, version, deliveredBy });
  try {
    return await runInProcess(...run);
  } finally {
    Object.assign(running, before);
  }
}
