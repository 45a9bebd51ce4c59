// `npm run bench:growth`: what more processes, a pooler, a distributed database and another store cost or gain on this machine, each
// against one web and one worker straight on PostgreSQL. All take turns in each round, so that they meet the same noise.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { setEnv } from "#lib/core/env";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { freePort } from "#lib/db/embedded/ports";
import { migrate } from "#lib/db/migrate";
import { distribute } from "#lib/db/sql/distribute";
import { installQueues } from "#lib/queue/queues";
import { buildIfNeeded } from "#server/build/build";
import { supervise } from "#server/processes";
import { findCitus, startCluster } from "../growth/cluster.ts";
import { createAccount } from "../support/account.ts";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.ts";
import { startS3 } from "../support/s3.ts";
import { loadTexts, makeBody, makeTraces } from "./corpus.ts";
import { median } from "./measure.ts";
import { post } from "./post.ts";

const rounds = 5;
const sendSeconds = 6;
const maxSeconds = 380;
const clients = 8;
/** Four sessions of 25 messages, some 90 KB. */
const [traceCount, messagesEach] = [4, 25];
const minRatio = 0.9;

type Setup = {
  name: string;
  pairs: number;
  database: string;
  environment?: Record<string, string>;
  isDistributed?: boolean;
};
type Figures = { messagesPerSecond: number; readableMs: number; connections: number };
type Running = { setup: Setup; urls: string[]; db: pg.Client; token: string };

const endings: (() => Promise<unknown>)[] = [];
const environment = {
  ...{ AUTH_SECRET: "a secret for the bench only, 32 characters", LOG_LEVEL: "error", NODE_ENV: "production" },
  ...{ BASE_URL: "http://localhost:3000", HOST: "127.0.0.1", AUTH_RATE_LIMIT: "off" },
};

async function startSetup(setup: Setup, directUrl: string): Promise<Running> {
  await migrate(directUrl, () => installQueues(directUrl));
  if (setup.isDistributed) await distribute(directUrl, () => {});
  const db = new pg.Client({ connectionString: directUrl });
  await db.connect();
  endings.push(() => db.end());
  const token = await createAccount(db, `${randomUUID()}@example.org`);
  const urls: string[] = [];
  const own = { ...environment, DATABASE_URL: setup.database, UPLOAD_STORE: "postgres", ...setup.environment };
  for (let n = 0; n < setup.pairs; n += 1) {
    const port = await freePort();
    const wanted = [
      { name: "worker", words: ["--conditions=react-server", "server/worker.ts"] },
      { name: "web", words: ["server/web.ts"] },
    ];
    const { stop } = await supervise(wanted, { ...own, PORT: String(port) });
    endings.push(stop);
    urls.push(`http://127.0.0.1:${port}`);
  }
  return { setup, urls, db, token };
}

const makeHeaders = ({ token }: Running) => ({ Authorization: `Bearer ${token}`, "Content-Type": "application/json" });

async function openJobs({ db }: Running): Promise<number> {
  const { rows } = await db.query("select count(*)::int as open from ingest_job where status in ('queued', 'running')");
  return rows[0].open;
}

/** Sends for some seconds from all clients in turns to all webs. @returns messages a second until all are stored */
async function sustain(running: Running, texts: string[]): Promise<number> {
  let sent = 0;
  const startedAt = performance.now();
  const client = async (first: number) => {
    for (let n = first; performance.now() - startedAt < sendSeconds * 1000; n += 1) {
      const body = makeBody(makeTraces(texts, randomUUID(), traceCount, messagesEach));
      const { status, text } = await post(
        `${running.urls[n % running.urls.length]}/api/ingest`,
        body,
        makeHeaders(running),
      );
      if (status === 202) sent += 1;
      else if (status !== 503) throw new Error(`ingest answered ${status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, n) => client(n)));
  while ((await openJobs(running)) > 0) await sleep(20);
  return (sent * traceCount * messagesEach * 1000) / (performance.now() - startedAt);
}

/** @returns the median of the times from an upload's start until it is stored, one after the other, in milliseconds */
async function readable(running: Running, texts: string[]): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 9; n += 1) {
    await sleep(100 + Math.random() * 200);
    const startedAt = performance.now();
    const body = makeBody(makeTraces(texts, randomUUID(), 1, 10));
    await post(`${running.urls[n % running.urls.length]}/api/ingest`, body, makeHeaders(running));
    while ((await openJobs(running)) > 0) await sleep(3);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

async function measure(running: Running, texts: string[]): Promise<Figures> {
  const name = new URL(running.setup.database).pathname.slice(1);
  let connections = 0;
  let isOver = false;
  const counting = (async () => {
    while (!isOver) {
      const { rows } = await running.db.query(
        "select count(*)::int as count from pg_stat_activity where datname = $1 and application_name like 'spoor%'",
        [name],
      );
      connections = Math.max(connections, rows[0].count);
      await sleep(200);
    }
  })();
  const messagesPerSecond = await sustain(running, texts);
  const readableMs = await readable(running, texts);
  isOver = true;
  await counting;
  return { messagesPerSecond, readableMs, connections };
}

/** The coordinator that CITUS_DATABASE_URL names; otherwise of three nodes here, which write as safely as the one server does. */
async function findCluster(): Promise<string | undefined> {
  const bin = process.env.CITUS_DATABASE_URL ? undefined : await findCitus();
  if (!bin) return process.env.CITUS_DATABASE_URL;
  const cluster = await startCluster(bin, { fsync: "on", shared_buffers: "192MB", max_wal_size: "4GB" });
  endings.push(cluster.stop);
  return cluster.url;
}

/** Of the store that UPLOAD_STORE=s3 and its settings name; otherwise of one on this machine, which shares its processors. */
async function storeSettings(): Promise<Record<string, string>> {
  if (process.env.UPLOAD_STORE === "s3") return { UPLOAD_STORE: "s3" };
  const store = await startS3();
  endings.push(store.stop);
  return store.settings;
}

/** The setups that this machine can run, and why it can't run the others. */
async function findSetups(serverUrl: string): Promise<{ setups: [Setup, direct: string][]; skipped: string[] }> {
  const server = new pg.Client({ connectionString: serverUrl });
  await server.connect();
  const create = async (name: string) => {
    await server.query(`create database ${name}`);
    return new URL(`/${name}`, serverUrl).href;
  };
  const [one, two] = [await create("one"), await create("two")];
  const setups: [Setup, string][] = [
    [{ name: "1 web + 1 worker", pairs: 1, database: one }, one],
    [{ name: "2 webs + 2 workers", pairs: 2, database: two }, two],
  ];
  const skipped: string[] = [];
  if (hasPgbouncer) {
    const [pooled, half] = [await create("pooled"), await create("half")];
    const pooler = await startPgbouncer(serverUrl);
    endings.push(pooler.stop);
    setups.push([{ name: "1 + 1, all through PgBouncer", pairs: 1, database: pooler.via(pooled) }, pooled]);
    const direct = { DIRECT_DATABASE_URL: half };
    setups.push([
      { name: "1 + 1, the web through PgBouncer", pairs: 1, database: pooler.via(half), environment: direct },
      half,
    ]);
  } else skipped.push("PgBouncer: it is not installed");
  const citus = await findCluster();
  if (citus) setups.push([{ name: "1 + 1 on Citus", pairs: 1, database: citus, isDistributed: true }, citus]);
  else skipped.push("Citus: no PostgreSQL here has the extension, and CITUS_DATABASE_URL is not set");
  const stored = await create("stored");
  const own = await storeSettings();
  setups.push([{ name: "1 + 1, bodies in S3", pairs: 1, database: stored, environment: own }, stored]);
  await server.end();
  return { setups, skipped };
}

const ratio = (value: number) => value.toFixed(2).padStart(7);

function print(names: string[], measured: Map<string, Figures[]>): boolean {
  const of = (name: string) => measured.get(name) ?? [];
  const first = of(names[0] ?? "");
  console.log(`\n${"".padEnd(36)}messages/s  ratio   readable  ratio  connections`);
  let met = true;
  for (const name of names) {
    const own = of(name);
    const compare = (figure: "messagesPerSecond" | "readableMs") =>
      median(own.map((one, n) => one[figure] / (first[n]?.[figure] ?? Number.NaN)));
    const throughput = compare("messagesPerSecond");
    const rate = Math.round(median(own.map((one) => one.messagesPerSecond)));
    const ms = Math.round(median(own.map((one) => one.readableMs)));
    const most = Math.max(...own.map((one) => one.connections));
    const isBound = name.startsWith("2");
    if (isBound) met = throughput >= minRatio;
    const verdict = isBound ? `  ${met ? "✓" : "✗"} must be ≥ ${minRatio}` : "";
    const columns = [String(rate).padStart(10), ratio(throughput), `${ms} ms`.padStart(11)];
    console.log(
      `${name.padEnd(36)}${columns.join("")}${ratio(compare("readableMs"))}${String(most).padStart(13)}${verdict}`,
    );
  }
  return met;
}

const startedAt = performance.now();
const folder = await mkdtemp(join(tmpdir(), "spoor-growth-"));
let met = false;
try {
  await buildIfNeeded(console.log);
  const database = await startEmbedded(folder);
  endings.push(database.stop);
  setEnv({ ...environment, DATABASE_URL: database.url });
  const { setups, skipped } = await findSetups(database.url);
  for (const why of skipped) console.log(`Skipped: ${why}.`);
  const all: Running[] = [];
  for (const [setup, direct] of setups) all.push(await startSetup(setup, direct));
  const { texts } = loadTexts();
  const measured = new Map<string, Figures[]>(setups.map(([{ name }]) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const passed = (performance.now() - startedAt) / 1000;
    if (round > 1 && passed * (1 + 1 / round) > maxSeconds) break;
    for (const running of all) {
      const figures = await measure(running, texts);
      if (round > 0) measured.get(running.setup.name)?.push(figures); // the first warms up
    }
    console.log(`round ${round} after ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
  met = print([...measured.keys()], measured);
} finally {
  for (const end of endings.reverse()) await end();
  await rm(folder, { recursive: true, force: true });
}
process.exit(met ? 0 : 1);
