import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { requiredEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { migrate } from "#lib/db/migrate";
import { waitingForLocks } from "../support/meanwhile.ts";
import { get, ingest, jobEnd, post, provideOwnedServer, someAddress } from "../support/server.ts";

const { server, token } = await provideOwnedServer();
const headers = { Authorization: `Bearer ${token}` };

/**
 * A later version's migrations: one for each table, which only add (tests/unit/project/migrations.test.ts). Each is a transaction: one
 * that locked several tables could meet a request in a deadlock, which PostgreSQL ends for either of them.
 */
async function writeNext(folder: string): Promise<string[]> {
  const { rows } = await pool().query<{ table: string }>(
    `select tablename as table from pg_tables where schemaname = 'public' and tablename <> '_prisma_migrations'
     order by tablename`,
  );
  await cp("prisma/migrations", folder, { recursive: true });
  const names = rows.map(({ table }) => `99990101000000_${table}`);
  for (const [index, { table }] of rows.entries()) {
    await mkdir(join(folder, names[index] ?? ""));
    await writeFile(
      join(folder, names[index] ?? "", "migration.sql"),
      `ALTER TABLE "${table}" ADD COLUMN "later_a" TEXT NOT NULL DEFAULT 'a;b', ADD COLUMN "later_b" INTEGER;
       CREATE INDEX "${table}_later" ON "${table}"("later_b");`,
    );
  }
  return names;
}

/** Requests of every kind, each again as soon as it is answered. */
function startLoad() {
  const answers: { path: string; status: number }[] = [];
  const rounds = new Map<string, number>();
  const stop = new AbortController();
  const from = () => ({ "X-Forwarded-For": someAddress() });
  const scan = { schema: 1, deviceId: "d", cliVersion: "1.0.0", platform: "linux", arch: "x64", command: "scan" };
  const requests: [path: string, send: (n: number) => Promise<Response>][] = [
    [
      "upload",
      (n) =>
        post(
          server,
          "/api/ingest",
          { traces: [{ sourceId: `load-${n}`, messages: [{ position: 0, content: "x" }] }] },
          headers,
        ),
    ],
    ["list", () => get(server, "/api/traces?q=x", token)],
    ["device login", () => post(server, "/api/cli/device/start", { machine: "laptop" }, from())],
    ["telemetry", () => post(server, "/api/cli/telemetry", { ...scan, diagnostics: [{ adapter: "codex" }] }, from())],
    ["own token", () => get(server, "/api/cli/session", token)],
    ["page", () => fetch(`${server.url}/traces`, { redirect: "manual" })],
    ["readiness", () => get(server, "/api/ready")],
  ];
  const loops = requests.map(async ([path, send]) => {
    for (let n = 0; !stop.signal.aborted; n += 1) {
      rounds.set(path, n);
      const response = await send(n);
      await response.arrayBuffer();
      answers.push({ path, status: response.status });
      await sleep(20);
    }
  });
  return {
    answers,
    /** Waits until each of them was sent and answered once more. */
    round: async () => {
      const before = new Map(rounds);
      const isNewer = ([path]: (typeof requests)[number]) => (rounds.get(path) ?? 0) > (before.get(path) ?? 0) + 1;
      await expect.poll(() => requests.every(isNewer), { timeout: 30_000 }).toBe(true);
    },
    stop: async () => {
      stop.abort();
      await Promise.all(loops);
    },
  };
}

test("processes of the former version serve while a later version's migrations are applied, and afterwards", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spoor-migrations-"));
  const later = await writeNext(folder);
  await ingest(server, token, [{ sourceId: "before", messages: [{ position: 0, content: "one" }] }]);
  const load = startLoad();
  try {
    await load.round();
    const holder = await pool().connect();
    await holder.query("begin; lock table ingest_job in row exclusive mode"); // as a long job does
    const migrated = migrate(requiredEnv("DATABASE_URL"), async () => {}, folder);
    await expect.poll(waitingForLocks, { timeout: 30_000 }).toBeGreaterThan(0);
    await load.round(); // no request waits as long as the migration does
    await holder.query("rollback");
    holder.release();
    expect(await migrated).toEqual(later);
    await load.round();
    const accepted = await post(server, "/api/ingest", { traces: [{ sourceId: "after", messages: [] }] }, headers);
    const { jobId } = (await accepted.json()) as { jobId: string };
    expect(await jobEnd(server, jobId, token)).toMatchObject({ status: "succeeded", attempts: 1 });
  } finally {
    await load.stop();
    await rm(folder, { recursive: true });
  }
  expect(load.answers.filter(({ status }) => status >= 500)).toEqual([]);
});
