import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEmbedded } from "#lib/db/embedded";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spoor-embedded-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

const postmaster = async () => Number((await readFile(join(folder, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);

describe("the embedded database", () => {
  test("starts on an empty folder, on loopback only, behind a password that only its owner can read", async () => {
    const database = await startEmbedded(folder);
    const [row] = await ask(
      database.url,
      "select current_setting('listen_addresses') as addresses, current_setting('server_encoding') as encoding",
    );
    expect(row).toEqual({ addresses: "127.0.0.1", encoding: "UTF8" });
    expect((await stat(join(folder, "postgres.password"))).mode & 0o777).toBe(0o600);
    await expect(ask(database.url.replace(/:[^:@]+@/, ":wrong@"), "select 1")).rejects.toThrow(/password/);
    await database.stop();
    await expect(ask(database.url, "select 1")).rejects.toThrow();
  });

  test("keeps what it stored over a stop", async () => {
    const first = await startEmbedded(folder);
    await ask(first.url, "create table kept as select 7 as value");
    await first.stop();
    const second = await startEmbedded(folder);
    expect(await ask(second.url, "select value from kept")).toEqual([{ value: 7 }]);
    await second.stop();
  });

  test("an orphan of a killed start is adopted, never doubled, and then stopped by its new owner", async () => {
    const first = await startEmbedded(folder);
    const pid = await postmaster();
    await rm(join(folder, "postgres.owner")); // as a start leaves it that was killed, and whose number is gone
    const adopted = await startEmbedded(folder);
    expect(adopted.url).toBe(first.url);
    expect(await postmaster()).toBe(pid);
    await adopted.stop();
    await expect(ask(first.url, "select 1")).rejects.toThrow();
  });

  test("a server whose owner lives is used by a second start, and left running by it", async () => {
    const first = await startEmbedded(folder);
    await rm(join(folder, "postgres.owner"));
    const { writeFile } = await import("node:fs/promises");
    await writeFile(join(folder, "postgres.owner"), String(process.ppid));
    const second = await startEmbedded(folder);
    await second.stop();
    expect(await ask(first.url, "select 1 as one")).toEqual([{ one: 1 }]);
    await writeFile(join(folder, "postgres.owner"), String(process.pid));
    await first.stop();
  });

  test("comes back after kill -9 of the whole server with all that was committed", async () => {
    const first = await startEmbedded(folder);
    await ask(first.url, "create table committed as select 8 as value");
    process.kill(await postmaster(), "SIGKILL");
    const second = await startEmbedded(folder);
    expect(await ask(second.url, "select value from committed")).toEqual([{ value: 8 }]);
    await second.stop();
  });

  test("of two first starts at once both get the same server", async () => {
    const other = await mkdtemp(join(tmpdir(), "spoor-embedded-"));
    const [one, two] = await Promise.all([startEmbedded(other), startEmbedded(other)]);
    expect(one.url).toBe(two.url);
    await one.stop();
    await rm(other, { recursive: true, force: true });
  });
});
