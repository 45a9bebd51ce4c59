// `npm run test:upgrade`: stops the last release, with uploads that wait, and starts these sources on its database. Nothing that was
// acknowledged is lost, what was stored is read and found, and the account's password opens it.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { buildIfNeeded } from "#server/build/build";
import { createAccount } from "../support/account.ts";
import { account, Load } from "./load.ts";
import { Launched } from "./process.ts";
import { checkOut, findRelease } from "./release.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);
/** What is undone at the end, the latest first. */
const endings: (() => Promise<void>)[] = [];
const faults: string[] = [];
const expect = (holds: boolean, fault: string) => {
  if (!holds) fail(fault);
};
/** At once: undoing everything takes a while. */
const fail = (fault: string) => {
  faults.push(fault);
  say(`FAILED: ${fault}`);
};

async function until(what: string, seconds: number, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await sleep(100);
  }
}

async function prepareDatabase(): Promise<{ url: string; db: pg.Client }> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-upgrade-"));
  const database = await startEmbedded(folder);
  endings.push(async () => {
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const db = new pg.Client({ connectionString: database.url });
  db.on("error", () => {});
  await db.connect();
  endings.push(() => db.end());
  return { url: database.url, db };
}

async function upgrade(former: string): Promise<void> {
  const { url, db } = await prepareDatabase();
  const environment = {
    ...{ DATABASE_URL: url, AUTH_SECRET: "a secret for tests only, 32 characters and more", AUTH_RATE_LIMIT: "off" },
    ...{ BASE_URL: "http://localhost:3000", LOG_LEVEL: "error", TRUSTED_PROXIES: "127.0.0.1", NODE_ENV: "production" },
  };
  const start = async (folder: string, name: string, role: "all" | "web") => {
    const launched = await Launched.start(folder, name, role, environment);
    endings.push(() => launched.stop());
    return launched;
  };
  const count = async (of: string) => {
    const { rows } = await db.query<{ count: number }>(`select count(*)::int as count from ${of}`);
    return rows[0]?.count ?? 0;
  };

  const before = await start(former, "former version", "all");
  const load = new Load(await createAccount(db, account.email, account.password));
  endings.push(() => load.stop().catch(() => {}));
  load.start();
  load.begin("1 former version");
  load.add(before);
  await until("the former version answers all kinds of requests", 120, () => load.rounds >= 3);
  await load.remove(before);
  await before.stop();
  load.begin("2 former web without a worker");
  const web = await start(former, "former web", "web");
  await load.upload(web, 20);
  await web.stop();
  const waiting = await count("ingest_job where status = 'queued'");
  expect(waiting >= 20, `${waiting} uploads of the former version wait`);
  const stored = await count("trace");
  const startedAt = performance.now();
  const after = await start(".", "new version", "all");
  load.begin("3 new version");
  load.add(after);
  await until("the new version is ready", 60, () => load.targets.includes(after.name));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`${stored} sessions stored, ${waiting} uploads waiting: the new version was ready after ${seconds} s.`);
  await until("the new version answers all kinds of requests", 120, () => load.rounds >= 3);
  await load.remove(after);
  await load.stop();
  await until("all is processed, accounted for and indexed", 120, async () => {
    const jobs = await count("ingest_job where status in ('queued', 'running')");
    return jobs === 0 && (await count("trace where ledger_due or search_pending")) === 0;
  });
  await report(load, db, after);
  if (faults.length > 0) say(`${after.name} said:\n${after.said}`);
}

async function report(load: Load, db: pg.Client, server: Launched): Promise<void> {
  for (const [phase, answers] of Object.entries(Object.groupBy(load.answers, (one) => one.phase))) {
    const times = (answers ?? []).map(({ ms }) => ms).sort((a, b) => a - b);
    const slowest = Math.round(times.at(-1) ?? 0);
    say(`${phase}: ${times.length}; p50 ${Math.round(times[times.length >> 1] ?? 0)} ms, slowest ${slowest} ms`);
  }
  const own = load.answers.filter(({ by }) => by === server.name);
  const served = new Set(own.filter(({ status }) => status < 500).map(({ path }) => path));
  // A busy machine may refuse some of them for a moment.
  const failed = own.filter(
    ({ path, status }) => status === 0 || (status >= 500 && (status !== 503 || !served.has(path))),
  );
  for (const { path, status } of failed.slice(0, 20)) say(`  ${status} to ${path}`);
  expect(failed.length === 0, `${failed.length} of ${own.length} answers were a failure, or no answer`);
  const refused = own.filter(({ path, status }) => path.startsWith("POST /api/auth") && status === 401);
  expect(refused.length === 0, `${refused.length} sign-ins were refused`);
  const { rows } = await db.query<{ id: string }>("select id from ingest_job where status <> 'succeeded'");
  expect(rows.length === 0, `${rows.length} jobs did not succeed`);
  const { rows: hashes } = await db.query<{ password: string }>("select password from account");
  expect(hashes[0]?.password.startsWith("$scrypt$") ?? false, "the password's hash was not renewed");
  const read = await load.readAll(server);
  const lost = new Set(load.acknowledged.values()).difference(read);
  expect(lost.size === 0, `${lost.size} acknowledged sessions are not stored`);
  const broken = [...read.values()].filter((isWhole) => !isWhole).length;
  expect(broken === 0, `${broken} sessions are not read as a whole, or not found`);
  say(
    `${own.length} answers of it, ${failed.length} failed; ${load.acknowledged.size} uploads acknowledged, ${lost.size} lost.`,
  );
}

const release = await findRelease();
if (!release) {
  say("The history has no release to upgrade from: skipped. Fetch the tags, and more of the history.");
  process.exit(0);
}
say(`From ${release.version} (${release.commit.slice(0, 7)}) to these sources. Installing and building both…`);
try {
  await buildIfNeeded(say);
  const former = await checkOut(release.commit);
  endings.push(former.remove);
  await upgrade(former.folder);
} catch (error) {
  fail((error as Error).stack ?? String(error));
} finally {
  for (const end of endings.reverse()) await end().catch((error) => say(String(error)));
}
process.exit(faults.length === 0 ? 0 : 1);
