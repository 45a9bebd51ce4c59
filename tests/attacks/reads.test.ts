import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { storeSession } from "../support/long-session.ts";
import { bestOfThree, takePulse } from "../support/pulse.ts";
import { residentBytes } from "../support/resident.ts";
import { logIn, makeUser, provideOwnedServer } from "../support/server.ts";

const { server, userId, token } = await provideOwnedServer({ worker: false, environment: { AUTH_RATE_LIMIT: "on" } });
const attackerId = await makeUser({ name: "Mallory", email: "mallory@example.org", password: "" });
const attacker = await logIn(server, attackerId);

/** 3,000 messages of 60 kB, as PostgreSQL stores ordinary text: compressed to a third. */
const session = { messages: 3000, content: "repeat(md5(p::text) || ' some words that are the same ', 1000)" };
const large = await storeSession(attackerId, session);
await storeSession(userId, { messages: 20 });

type Outcome = { status: number; milliseconds: number; error?: string; retryAfter?: string | null };

/** One request. @returns how it ended; status 0 where its client left */
async function ask(path: string, bearer?: string, signal?: AbortSignal): Promise<Outcome> {
  const startedAt = performance.now();
  const headers: Record<string, string> = bearer ? { Authorization: `Bearer ${bearer}` } : {};
  try {
    const response = await fetch(server.url + path, { headers, ...(signal && { signal }) });
    const text = await response.text();
    const error = response.status >= 400 ? JSON.parse(text).error : undefined;
    const retryAfter = response.headers.get("retry-after");
    return { status: response.status, milliseconds: performance.now() - startedAt, error, retryAfter };
  } catch {
    return { status: 0, milliseconds: performance.now() - startedAt };
  }
}

const p95 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? 0;

/** The statements of the server that read messages. */
async function runningReads(): Promise<number> {
  const { rowCount } = await pool().query(
    `select from pg_stat_activity where state = 'active' and query like '%from message%' and pid <> pg_backend_pid()
       and datname = current_database()`,
  );
  return rowCount ?? 0;
}

const find = (signal?: AbortSignal) => ask(`/api/traces/${large}/matches?q=not-there`, attacker, signal);

test("24 finds at once in 180 MB of one member stop nobody else", bestOfThree, async ({ annotate }) => {
  const victims: Outcome[] = [];
  const others: Outcome[] = [];
  const visit = async () => {
    victims.push(await ask("/api/traces", token));
    others.push(await ask("/api/health"), await ask("/sign-in"));
  };
  await visit(); // the first of each route loads it
  victims.length = 0;
  let open = 24;
  const finds = Array.from({ length: open }, () => find().finally(() => (open -= 1)));
  while (open > 0) {
    await visit();
    await sleep(20);
  }
  const late = p95(victims.map(({ milliseconds }) => milliseconds));
  const outcomes = await Promise.all(finds);
  const refused = outcomes.filter(({ status }) => status !== 200);
  await annotate(
    `of 24 finds ${refused.length} were refused, and another user's list took ${late.toFixed(0)} ms (p95 of ${victims.length})`,
  );
  expect([...victims, ...others].filter(({ status }) => status !== 200)).toEqual([]);
  expect(late).toBeLessThanOrEqual(300);
  expect(refused.length).toBeGreaterThan(0);
  const overloaded = { status: 503, error: "overloaded", retryAfter: expect.stringMatching(/^\d+$/) };
  for (const one of refused) expect(one).toMatchObject(overloaded);
});

test("a member's finds run two at a time, and end with their clients", bestOfThree, async ({ annotate }) => {
  const leaving = new AbortController();
  const finds = Array.from({ length: 24 }, () => find(leaving.signal));
  while ((await runningReads()) < 2) await sleep(10);
  await sleep(100);
  expect(await runningReads()).toBe(2);
  leaving.abort();
  await Promise.all(finds);
  const leftAt = performance.now();
  while ((await runningReads()) > 0 && performance.now() - leftAt < 5000) await sleep(10);
  const ended = performance.now() - leftAt;
  await annotate(`the statements ended ${ended.toFixed(0)} ms after their clients`);
  expect(ended).toBeLessThanOrEqual(1000);
  expect((await find()).status).toBe(200);
});

test("twenty reads at once of messages of 100 MB each take little memory, and hold up nobody", {
  ...bestOfThree,
  timeout: 60_000,
}, async ({ annotate }) => {
  const content = "repeat('some words that are \u00e4lso the s\u00e4me ', 2900000)";
  const readers = await Promise.all(
    Array.from({ length: 5 }, async (_, n) => {
      const id = await makeUser({ name: `Reader ${n}`, email: `${crypto.randomUUID()}@example.org`, password: "" });
      const trace = await storeSession(id, { messages: 1, sourceId: "one", content });
      return { bearer: await logIn(server, id), trace };
    }),
  );
  const resident = () => residentBytes("server/web.") / 1024 / 1024;
  const before = resident();
  let most = before;
  let bytes = 0;
  const leaving = new AbortController();
  const watch = setInterval(() => (most = Math.max(most, resident())), 20);
  const paths = ["messages", "messages?limit=1", "export.json", "export.md"];
  const pulse = await takePulse(server, async () => {
    const reads = readers.flatMap(({ bearer, trace }) =>
      paths.map(async (path) => {
        const headers = { Authorization: `Bearer ${bearer}` };
        const response = await fetch(`${server.url}/api/traces/${trace}/${path}`, { headers, signal: leaving.signal });
        for await (const part of response.body ?? []) bytes += part.length;
      }),
    );
    const settled = Promise.allSettled(reads);
    await Promise.race([settled, sleep(5000)]);
    leaving.abort();
    await settled;
  });
  clearInterval(watch);
  await annotate(
    `memory grew from ${before.toFixed(0)} to ${most.toFixed(0)} MiB while ${(bytes / 1024 / 1024).toFixed(0)} MiB were sent, and health took ${pulse.p99} ms (p99)`,
  );
  expect(pulse.failed).toBe(0);
  expect(pulse.p99).toBeLessThan(1500);
  expect(bytes).toBeGreaterThan(0);
  if (before > 0) expect(most - before).toBeLessThan(400); // no figure where there is no /proc
});
