import { join } from "node:path";
import { afterAll, afterEach, expect, onTestFinished, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { createTokenByHand } from "#lib/auth/tokens";
import { setEnv, usualWireBytes } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { freePort } from "#lib/db/embedded/ports";
import { decideLogin, findLogin } from "#lib/device/login";
import { bearer, openRequest } from "../../api/client.ts";
import { toLines, writeBelow } from "../../cli/home.ts";
import { claudeLines, claudeMessagesPerTurn } from "../../cli/sessions.ts";
import { type Break, SpoorProcess } from "../../faults/process.ts";
import { until } from "../../faults/wait.ts";
import { download, ended, provideClient, wrote } from "../../support/client.ts";
import { freshDatabase, testEnvironment } from "../../support/database.ts";
import { get, makeUser, post, setupToken } from "../../support/server.ts";

const database = await freshDatabase();
const port = await freePort();
const server = { url: `http://localhost:${port}`, stop: async () => {} };
const environment = {
  ...testEnvironment,
  DATABASE_URL: database.url,
  PORT: String(port),
  BASE_URL: server.url,
  SETUP_TOKEN: setupToken,
  NODE_ENV: "production",
  INGEST_MAX_BYTES: "60000", // small batches, so that a push has several
};
setEnv(environment);
await openSetup();
const userId = await makeUser();

const running = new Set<SpoorProcess>();

/** Starts a process at the server's port, on its database. */
async function start(role: "web" | "worker", broken?: Break): Promise<SpoorProcess> {
  const started = new SpoorProcess(role, environment, broken ? { broken } : {});
  running.add(started);
  return started.ready();
}

async function kill(one: SpoorProcess): Promise<void> {
  running.delete(one);
  await one.kill();
}

let [web, worker] = await Promise.all([start("web"), start("worker")]);
afterAll(async () => {
  await Promise.all([...running].map(kill));
  await database.drop();
});
afterEach(async () => {
  await pool().query("delete from trace");
  await pool().query("delete from ingest_job");
});

const makeId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** A machine with a client and some sessions. @param token by default a new one */
async function machine(sessions: number[], token?: string) {
  const client = await provideClient((folder) => download(server.url, folder));
  const text = "Why does the retry timer fire twice? ".repeat(60);
  for (const number of sessions) {
    const path = join(".claude/projects/-home-ada-code-api", `${makeId(number)}.jsonl`);
    await writeBelow(client.home, path, toLines(...claudeLines(makeId(number), getTurns(number), { text })));
  }
  const login = { SPOOR_TOKEN: token ?? (await createTokenByHand(userId, "ada-laptop", operator)) };
  const push = () => client.start(["push"], login);
  return { ...client, login, push };
}

const getTurns = (number: number) => 1 + (number % 3);
const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);

/** Checks that a user has exactly these sessions, each once, with all of its messages. */
async function expectArchive(sessions: number[], token: string): Promise<void> {
  const found: [string, number][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await get(server, `/api/traces?limit=200${cursor && `&cursor=${cursor}`}`, token);
    const body = (await page.json()) as {
      traces: { sourceId: string; messageCount: number }[];
      nextCursor: string | null;
    };
    found.push(...body.traces.map(({ sourceId, messageCount }): [string, number] => [sourceId, messageCount]));
    cursor = body.nextCursor;
  }
  const wanted = sessions.map((number) => [makeId(number), getTurns(number) * claudeMessagesPerTurn]);
  expect(found.sort()).toEqual(wanted.sort());
  const { rows } = await pool().query(
    `select source_id from trace t
     where message_count <> (select count(*) from message m where m.user_id = t.user_id and m.trace_id = t.id)`,
  );
  expect(rows).toEqual([]);
}

async function jobs(): Promise<{ all: number; open: number }> {
  const { rows } = await pool().query<{ all: number; open: number }>(
    `select count(*)::int as all, (count(*) filter (where status in ('queued', 'running')))::int as open from ingest_job`,
  );
  return rows[0] ?? { all: 0, open: 0 };
}

test("a push continues after the server was killed in the middle of it, and stores every session once", async () => {
  const { push, login } = await machine(numbers(200));
  await kill(web);
  web = await start("web", { point: 120 });
  const pushing = push();
  const done = ended(pushing);
  const waits = wrote(pushing, /can't be reached.*Trying again/, 50);
  await web.ended();
  expect((await jobs()).all).toBeGreaterThan(0);
  await kill(worker);
  await waits;
  [web, worker] = await Promise.all([start("web"), start("worker")]);
  const { code, output } = await done;
  expect([code, output]).toEqual([0, expect.stringContaining("Sent 200 sessions")]);
  await expectArchive(numbers(200), login.SPOOR_TOKEN);
});

test("several machines wait while their users' uploads under way take all, and all of their sessions are stored", async () => {
  const eve = await makeUser({ name: "eve", email: "eve@example.org", password: "correct horse battery" });
  const token = await createTokenByHand(userId, "holder", operator);
  const evesToken = await createTokenByHand(eve, "holder", operator);
  const machines = await Promise.all([
    machine(numbers(20)),
    machine(numbers(20, 101)),
    machine(numbers(20), evesToken),
  ]);
  const held: ReturnType<typeof openRequest>["request"][] = [];
  const hold = (holder: string) => {
    const headers = { ...bearer(holder), "Content-Length": String(usualWireBytes) };
    const { request } = openRequest(server, "/api/ingest", { headers });
    request.write("{");
    held.push(request);
  };
  const free = () => {
    for (const request of held) request.destroy();
  };
  onTestFinished(free);
  const statusOfAnother = async (holder: string) => {
    hold(holder);
    return (await post(server, "/api/ingest", "{", bearer(holder))).status;
  };
  for (const holder of [token, evesToken]) {
    await expect.poll(() => statusOfAnother(holder), { timeout: 20_000, interval: 500 }).toBe(503);
  }
  const pushes = machines.map(({ push }) => push());
  const results = Promise.all(pushes.map(ended));
  await Promise.all(pushes.map((push) => wrote(push, /Trying again in 0:05/)));
  free();
  for (const { code, output } of await results) expect([code, output]).toEqual([0, expect.stringContaining("20 new")]);
  await expectArchive([...numbers(20), ...numbers(20, 101)], token);
  await expectArchive(numbers(20), evesToken);
});

test("a token revoked while its uploads are processed ends the push with 3, and a push with a new token completes it", async () => {
  const { push, login, run } = await machine(numbers(60));
  await kill(worker);
  const pushing = push();
  const done = ended(pushing);
  await until(20, "some uploads wait", async () => (await jobs()).open > 1);
  await fetch(`${server.url}/api/cli/session`, { method: "DELETE", headers: bearer(login.SPOOR_TOKEN) });
  expect(await done).toMatchObject({ code: 3, errors: expect.stringContaining("is no longer valid") });
  worker = await start("worker");
  const next = await createTokenByHand(userId, "ada-laptop", operator);
  expect((await run(["push"], { SPOOR_TOKEN: next })).code).toBe(0);
  await expectArchive(numbers(60), next);
});

test.each([
  ["ahead of", 2 * 86_400_000],
  ["behind", -2 * 86_400_000],
])(
  "a machine whose clock is two days %s the server's logs in and pushes, and doctor reports the difference",
  async (word, shift) => {
    const { start: client, run, login } = await machine(numbers(3));
    const preload = new URL("../../faults/preload.ts", import.meta.url).href;
    const wrong = { NODE_OPTIONS: `--import=${preload}`, FAULT_POINT: "0", FAULT_CLOCK_MS: String(shift) };
    const waiting = client(["login", "--machine", "late"], wrong);
    const done = ended(waiting);
    const [, code = ""] = await wrote(waiting, /device\?code=(\S+)/);
    await decideLogin(userId, (await findLogin(userId, code))?.id ?? "", "approved", operator);
    expect((await done).code).toBe(0);
    const { code: unwell, output } = await run(["doctor"], wrong);
    expect([unwell, output]).toEqual([
      1,
      expect.stringMatching(new RegExp(`clock .*is 17\\d{4} s ${word} the server's`)),
    ]);
    expect((await run(["push"], wrong)).code).toBe(0);
    expect((await run(["push"])).output).toContain("Nothing new");
    await expectArchive(numbers(3), login.SPOOR_TOKEN);
  },
);
