import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { deleteAccount } from "#lib/auth/deletion";
import { createTokenByHand } from "#lib/auth/tokens";
import { pool } from "#lib/db/client";
import { findResidue } from "../support/residue.ts";
import { makeUser, owner, post, provideServer } from "../support/server.ts";
import { killNode, type Node, startNode } from "./cluster.ts";

const size = { users: 6, uploads: 60, sessions: 4, kills: 10 };
/** One of the nodes, where they were started for these tests. */
const node: Node | undefined = process.env.SPOOR_KILLABLE_NODE && JSON.parse(process.env.SPOOR_KILLABLE_NODE);
const server = await provideServer({ worker: false });

type Sender = { userId: string; token: string };

async function makeSender(n: number): Promise<Sender> {
  const userId = await makeUser(n === 0 ? owner : { name: "Bob", email: `storm-${n}@example.org`, password: "" });
  return { userId, token: await createTokenByHand(userId, "storm", operator) };
}

/** A version of a session: each upload of it has one message more. */
const version = (n: number) => {
  const count = Math.floor(n / size.sessions) + 1;
  const messages = Array.from({ length: count }, (_, position) => ({
    position,
    content: `stormy ${position} ${"x".repeat(2000)}`,
  }));
  return { traces: [{ sourceId: `session-${n % size.sessions}`, messages }] };
};

/** How many workers were killed. */
let kills = 0;

/** Sends versions in order, each until it is accepted, and more slowly while the storm goes on. @returns the jobs' ids */
async function sendAll({ token }: Sender): Promise<string[]> {
  const jobIds: string[] = [];
  for (let n = 0; n < size.uploads || kills < size.kills; n += 1) {
    if (n >= size.uploads) await sleep(500);
    const headers = { Authorization: `Bearer ${token}`, "Idempotency-Key": `upload-${n}` };
    for (;;) {
      const response = await post(server, "/api/ingest", version(n), headers);
      const { jobId } = (await response.json()) as { jobId: string };
      if (response.status === 202) {
        jobIds.push(jobId);
        break;
      }
      expect(response.status).toBe(503);
      await sleep(200);
    }
  }
  return jobIds;
}

/** Keeps two workers running and kills one of them now and then. */
async function killWorkers(until: AbortSignal): Promise<void> {
  const start = () => fork("server/worker.ts", { execArgv: ["--conditions=react-server"], stdio: "ignore" });
  const workers = [start(), start()];
  while (!until.aborted) {
    await sleep(kills < size.kills ? 4000 : 500); // so long that a worker has started and works
    if (kills >= size.kills) continue;
    workers.shift()?.kill("SIGKILL");
    workers.push(start());
    kills += 1;
  }
  await Promise.all(workers.map((worker) => worker.kill("SIGTERM") && once(worker, "exit")));
}

async function killOnce(which: Node): Promise<void> {
  await sleep(4000);
  await killNode(which);
  await sleep(2000);
  await startNode(which);
}

async function untilEnded(jobs: number): Promise<void> {
  const deadline = Date.now() + 240_000;
  for (;;) {
    const { rows } = await pool().query<{ status: string; jobs: number }>(
      "select status, count(*)::int as jobs from ingest_job group by status",
    );
    if (rows.some(({ status, jobs: count }) => status === "succeeded" && count === jobs)) return;
    if (Date.now() > deadline) throw new Error(`not all jobs succeeded: ${JSON.stringify(rows)}`);
    await sleep(500);
  }
}

test("a storm of kills loses and repeats nothing, and what a user leaves is on no node", {
  timeout: 420_000,
}, async () => {
  const senders: Sender[] = [];
  for (let n = 0; n < size.users; n += 1) senders.push(await makeSender(n));
  const over = new AbortController();
  const storm = killWorkers(over.signal);
  const outage = node && killOnce(node);
  const sent = await Promise.all(senders.map(sendAll));
  await outage;
  const jobIds = sent.flat();
  expect(new Set(jobIds).size).toBe(jobIds.length);
  await untilEnded(jobIds.length).finally(() => over.abort());
  await storm;
  expect([kills, jobIds.length >= size.users * size.uploads]).toEqual([size.kills, true]);

  const { rows } = await pool().query(
    `select user_id as id, count(*)::int as messages, count(distinct trace_id)::int as sessions from message group by user_id`,
  );
  // Each upload adds one message.
  const whole = senders.map(({ userId }, n) => ({ id: userId, messages: sent[n]?.length, sessions: size.sessions }));
  const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);
  expect(rows.toSorted(byId)).toEqual(whole.toSorted(byId));

  const leaver = senders.at(-1)?.userId ?? "";
  await deleteAccount(leaver);
  expect(await findResidue([leaver])).toEqual([]);
});
