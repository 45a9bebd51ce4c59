// `npm run test:upgrade`: a rolling upgrade from the last release to these sources under load, with a web and a worker of each,
// behind a load balancer that asks for readiness. No answer is a 5xx, and every acknowledged upload is stored.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startEmbedded } from "#lib/db/embedded";
import { buildIfNeeded } from "#lib/server/build";
import { createAccount } from "../support/account.ts";
import { account, Load } from "./load.ts";
import { Launched, runOnce } from "./process.ts";
import { checkOut, findRelease } from "./release.ts";

const phaseSeconds = 6;
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
  const start = async (folder: string, name: string, role: "web" | "worker") => {
    const launched = await Launched.start(folder, name, role, environment);
    endings.push(() => launched.stop());
    return launched;
  };
  const migrateTo = (folder: string) => runOnce(folder, "migrate", environment);

  await migrateTo(former);
  const load = new Load(await createAccount(db, account.email, account.password));
  const oldWeb = await start(former, "former web", "web");
  const oldWorker = await start(former, "former worker", "worker");
  load.add(oldWeb);
  load.start();
  endings.push(() => load.stop().catch(() => {}));
  const phase = async (name: string, seconds = phaseSeconds) => {
    load.phase = name;
    await sleep(seconds * 1000);
  };

  await until("the former web is ready", 60, () => load.targets.length === 1);
  await phase("1 former alone, former schema");
  load.phase = "2 new web beside the former schema";
  const newWeb = await start(".", "new web", "web");
  load.add(newWeb);
  await phase(load.phase, 3);
  expect(!(await newWeb.isReady()), "the new web called itself ready on the former schema");
  const early = await load.once(newWeb);
  const wrong = early.filter(({ status }) => status >= 500 && status !== 503);
  expect(
    wrong.length === 0,
    `on the former schema: ${wrong.map(({ status, path }) => `${status} to ${path}`).join(", ")}`,
  );
  const answered = [...new Set(early.map(({ status }) => status))].sort().join(", ");
  say(`The new web on the former schema is not ready, and answers ${answered}.`);
  load.phase = "3 while migrating";
  say(await migrateTo("."));
  await phase("4 former web and worker, new schema; new web");
  await until("both webs are ready", 30, () => load.targets.length === 2);
  const newWorker = await start(".", "new worker", "worker");
  await phase("5 both webs, both workers, new schema");
  await oldWorker.stop();
  await phase("6 both webs, new worker");
  await load.remove(oldWeb);
  await oldWeb.stop();
  await phase("7 new alone", 3);
  await load.stop();

  await until("all uploads are processed", 60, async () => {
    const { rows } = await db.query(
      "select count(*)::int as open from ingest_job where status in ('queued', 'running')",
    );
    return rows[0].open === 0;
  });
  await report(load, db);
  for (const one of [oldWeb, newWeb, newWorker]) if (faults.length > 0) say(`${one.name} said:\n${one.said}`);
}

async function report(load: Load, db: pg.Client): Promise<void> {
  for (const [phase, answers] of Object.entries(Object.groupBy(load.answers, (one) => one.phase))) {
    const times = (answers ?? []).map(({ ms }) => ms).sort((a, b) => a - b);
    const by = Object.entries(Object.groupBy(answers ?? [], (one) => one.by)).map(
      ([name, own]) => `${own?.length} ${name}`,
    );
    const slowest = Math.round(times.at(-1) ?? 0);
    say(`${phase}: ${by.join(", ")}; p50 ${Math.round(times[times.length >> 1] ?? 0)} ms, slowest ${slowest} ms`);
  }
  const failed = load.answers.filter(({ status }) => status >= 500 || status === 0);
  for (const { phase, by, path, status } of failed.slice(0, 20)) say(`  ${phase}: ${by} answered ${status} to ${path}`);
  expect(failed.length === 0, `${failed.length} of ${load.answers.length} answers were a 5xx or none`);
  const { rows } = await db.query<{ id: string }>("select id from ingest_job where status <> 'succeeded'");
  expect(rows.length === 0, `${rows.length} jobs did not succeed`);
  const stored = await db.query<{ key: string }>("select source_id as key from trace");
  const keys = new Set(stored.rows.map(({ key }) => key));
  const lost = new Set(load.acknowledged.values()).difference(keys);
  expect(lost.size === 0, `${lost.size} acknowledged sessions are not stored`);
  say(
    `${load.answers.length} answers, ${failed.length} failed; ${load.acknowledged.size} uploads acknowledged, ${lost.size} lost.`,
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
