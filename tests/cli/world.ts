import { resolve } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { clientFile } from "#server/build/stamps";
import { ended, provideClient } from "../support/client.ts";
import { startFake } from "./fake-server.ts";
import { toLines, writeBelow } from "./home.ts";
import { runInProcess } from "./in-process.ts";
import { claudeLines } from "./sessions.ts";

export const makeId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
export const claudePath = (number: number) => `.claude/projects/-home-ada-code-api/${makeId(number)}.jsonl`;

/** The output of `push --json`, of a plan or a failure. */
type PushOutput = {
  same: number;
  sent: { sessions: number; jobs: string[]; pending: number };
  left: { source: string; sourceId: string; reason: string }[];
  kept: { source: string; sourceId: string; reason: string; messageCount: number }[];
  sessions: { sourceId: string }[];
  invalid: number;
  projectsLeftOut: number;
  error: string;
  message: string;
};

/**
 * A client with sessions 1 to `sessions` in its home, and a fake server that it has a token for. `run` and `push` run in the
 * test's process; `start` and `spawn` start the built file.
 */
export async function world(
  sessions = 3,
  options: Parameters<typeof startFake>[0] = {},
  program: Parameters<typeof provideClient>[0] = () => resolve(clientFile),
) {
  const fake = await startFake(options);
  const client = await provideClient(program);
  for (let number = 1; number <= sessions; number++) {
    await writeBelow(client.home, claudePath(number), toLines(...claudeLines(makeId(number), number)));
  }
  const environment = { SPOOR_URL: fake.url, SPOOR_TOKEN: "spoor_test" };
  const start = (words: string[], more: Record<string, string> = {}) =>
    client.start(words, { ...environment, ...more });
  const spawn = (words: string[], more?: Record<string, string>) => ended(start(words, more));
  const run = (words: string[], more?: Record<string, string>) =>
    runInProcess(words, client.home, { ...environment, ...more });
  const push = async (...words: string[]) => {
    const { code, output, errors } = await run(["push", "--json", ...words]);
    return { code, errors, ...(JSON.parse(output) as PushOutput) };
  };
  return { fake, client, home: client.home, start, spawn, run, push };
}

/** An error response. */
export const problem = (status: number, more: object = {}, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: { ok: false, status, error: "x", detail: "No.", ...more },
});

/** The text of a body in one zstd frame. */
export const zstdText = (body: Buffer): string => zstdDecompressSync(body).toString();
