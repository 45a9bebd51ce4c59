import { PassThrough } from "node:stream";
import { makeTerminal, runClient } from "../../cli/client.ts";
import type { Ended } from "../support/client.ts";

/**
 * Runs the client's command line in the test's own process, which takes a hundredth of the time of starting one. What only a
 * process of its own has (signals, preloads, processes of its own, a limit of memory) needs `start`.
 */
export async function runInProcess(words: string[], home: string, more: Record<string, string> = {}): Promise<Ended> {
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
  const surroundings = { home: () => env.HOME, cwd: home, env, platform: process.platform, terminal, signal };
  const code = await runClient(words, surroundings);
  return { code, ...written };
}
