// A Spoor of the run's own, and what it shows of a home that the client sent it.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { z } from "zod";
import { operator } from "#lib/auth/audit";

import { createTokenByHand } from "#lib/auth/tokens";
import { requiredEnv, setEnv } from "#lib/core/env";
import type { Scope } from "#lib/core/fields";
import { closeDatabase, pool } from "#lib/db/client";
import type { wholeTraceShape } from "#lib/traces/schema";
import type { ReaderMessage } from "#lib/transcript/message";
import type { UsageResponse } from "#lib/usage/schema";
import { prepareDatabase, prepareSchema } from "#server/commands/database";
import { startTarget } from "../../fuzz/target.ts";

type Trace = z.output<typeof wholeTraceShape>;
/** `pictures` are the SHA-256 in hex of the bytes that the server has. */
export type Session = Trace & { messages: ReaderMessage[]; pictures: string[] };
export type Archived = {
  sessions: Session[];
  total: UsageResponse["total"];
  /** What the client could not read, as it says. */
  lost: unknown;
};

type ClientRun = {
  home: string;
  token: string;
  cwd: string;
  words: string[];
  /** It is typed, or piped. */
  input?: string;
  env?: Record<string, string>;
};

export type Archive = Awaited<ReturnType<typeof openArchive>>;

export async function openArchive() {
  const folder = await mkdtemp(join(tmpdir(), "spoor-agents-archive-"));
  setEnv({ DATABASE_URL: undefined, DATA_DIR: folder, LOG_LEVEL: "fatal" });
  const database = await prepareDatabase();
  await prepareSchema();
  const environment = { DATABASE_URL: requiredEnv("DATABASE_URL"), AUTH_SECRET: requiredEnv("AUTH_SECRET") };
  const server = await startTarget(environment, join(folder, "server.log"));
  const url = `http://127.0.0.1:${server.port}`;
  const client = join(folder, "spoor.mjs");
  await writeFile(client, await (await fetch(`${url}/spoor.mjs`)).text());
  let users = 0;
  /** @param scopes the usual ones by default @returns a token of a new user's */
  const addUser = async (scopes?: Scope[]): Promise<string> => {
    users += 1;
    const { rows } = await pool().query<{ id: string }>(
      `insert into "user" (name, email) values ('Ada', $1) returning id`,
      [`ada-${users}@example.org`],
    );
    return createTokenByHand(rows[0]?.id ?? "", "laptop", operator, scopes);
  };
  /** Runs the client with `--json`. @param cwd must exist @throws with what it printed, if it fails */
  const run = async ({ home, token, cwd, words, input, ...more }: ClientRun): Promise<Record<string, unknown>> => {
    const own = { HOME: home, SPOOR_URL: url, SPOOR_TOKEN: token, ...more.env };
    const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, NODE_ENV: "production", ...own };
    const running = promisify(execFile)(process.execPath, [client, ...words, "--json"], { env, cwd });
    running.child.stdin?.end(input ?? "");
    const { stdout } = await running;
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  return {
    addUser,
    run,
    read: (token: string) => readAll(url, token),
    /** Sends a home as a user of its own. */
    async push(home: string): Promise<Archived> {
      const token = await addUser();
      const cwd = join(home, "empty");
      await mkdir(cwd, { recursive: true });
      const pushed = await run({ home, token, cwd, words: ["push"] });
      return { ...(await readAll(url, token)), lost: findLost(pushed) };
    },
    async close() {
      await server.stop();
      await closeDatabase();
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function readAll(url: string, token: string): Promise<Omit<Archived, "lost">> {
  const fetchFound = async (path: string) => {
    const response = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };
  const get = async (path: string) => (await fetchFound(path)).json();
  const counted = async () => (await get("/api/usage?unit=total")) as UsageResponse;
  let usage = await counted();
  for (let round = 0; usage.pendingSessions > 0; round += 1) {
    if (round === 600) throw new Error("the usage of sessions is not counted");
    await sleep(200);
    usage = await counted();
  }
  usage = await counted();
  const { traces } = (await get("/api/traces?limit=200")) as { traces: Trace[] };
  const sessions = [];
  for (const { id } of traces) {
    const { trace } = (await get(`/api/traces/${id}`)) as { trace: Trace };
    const { messages } = (await get(`/api/traces/${id}/messages?limit=1000`)) as { messages: ReaderMessage[] };
    const pictures = [];
    for (const { sha256 } of messages.flatMap(({ metadata }) => (metadata?.pictures ?? []) as { sha256: string }[])) {
      const bytes = await (await fetchFound(`/api/traces/${id}/pictures/${sha256}`)).bytes();
      pictures.push(createHash("sha256").update(bytes).digest("hex"));
    }
    sessions.push({ ...trace, messages, pictures });
  }
  return { sessions, total: usage.total };
}

function findLost(pushed: Record<string, unknown>): unknown {
  return pushed;
}
