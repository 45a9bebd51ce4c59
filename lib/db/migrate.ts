import "server-only";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory, type SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import type { MigrationList, SchemaEngine } from "@prisma/schema-engine-wasm";
import pg from "pg";

/** Any number works, as long as everything that migrates a Spoor database takes the same. */
const migrationLock = 7_305_821;

const ownFolder = resolve("prisma/migrations");
/** How long a statement of a migration may wait for a lock: everything that comes after it for the table waits as well. */
const lockTimeout = "1s";
/** For how long a migration that met a lock is tried again, in milliseconds. */
const lockPatienceMs = 60_000;
const lockNotAvailable = "55P03";
const noFilters = { externalTables: [], externalEnums: [] };

/**
 * Brings a database to this version: Prisma's migrations, recorded in `_prisma_migrations` so that
 * `prisma migrate deploy` agrees, then whatever `after` does on the same terms (the job queue's tables).
 * Several processes may call it at once; they take turns. It may run while others serve: a migration applies as a whole
 * or not at all, and one that does not get its locks within a second gives way and is tried again for a minute.
 *
 * @param folder where the migrations are.
 * @returns the names of the migrations that this call applied.
 */
export async function migrate(databaseUrl: string, after: () => Promise<void>, folder = ownFolder): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "spoor-migrate" });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    const applied = await applyPatiently(client, databaseUrl, folder);
    await after();
    return applied;
  } finally {
    await client.end();
  }
}

/** The names of this version's migrations that a database has not finished. */
export async function pendingMigrations(database: pg.Pool): Promise<string[]> {
  const names = (await readMigrations()).migrationDirectories.map((directory) => directory.path);
  const { rows } = await database.query<{ name: string }>(
    "select migration_name as name from _prisma_migrations where finished_at is not null and rolled_back_at is null",
  );
  const finished = new Set(rows.map((row) => row.name));
  return names.filter((name) => !finished.has(name));
}

/**
 * Applies what is missing, again where a lock was not to be had.
 *
 * @param client holds the migrations' lock.
 * @returns the names of what was applied, over all tries.
 * @throws naming the migration that failed, and what PostgreSQL said to it.
 */
async function applyPatiently(client: pg.Client, databaseUrl: string, folder: string): Promise<string[]> {
  const deadline = Date.now() + lockPatienceMs;
  const before = await recordedMigrations(client);
  await takeBack(databaseUrl, before.failed);
  for (;;) {
    const failure = await applyMigrations(databaseUrl, folder).catch((error: Error & { code?: unknown }) => error);
    const { finished, failed } = await recordedMigrations(client);
    if (!failure) return finished.filter((name) => !before.finished.includes(name));
    if (failure.code !== lockNotAvailable || Date.now() > deadline) {
      throw new Error(`${failed[0] ?? "Migrating"} failed: ${failure.message}`, { cause: failure });
    }
    await takeBack(databaseUrl, failed);
    await sleep(1000);
  }
}

/** The names of the migrations that a database has finished, and of those that failed there. */
async function recordedMigrations(client: pg.Client): Promise<{ finished: string[]; failed: string[] }> {
  const { rowCount } = await client.query("select 1 where to_regclass('_prisma_migrations') is not null");
  if (!rowCount) return { finished: [], failed: [] };
  const { rows } = await client.query<{ name: string; finished: boolean }>(
    `select migration_name as name, finished_at is not null as finished from _prisma_migrations
     where rolled_back_at is null order by migration_name`,
  );
  const { finished = [], failed = [] } = Object.groupBy(rows, (row) => (row.finished ? "finished" : "failed"));
  return { finished: finished.map(({ name }) => name), failed: failed.map(({ name }) => name) };
}

/** Records that nothing of failed migrations was applied: without that Prisma refuses to try them again. */
async function takeBack(databaseUrl: string, names: string[]): Promise<void> {
  if (names.length === 0) return;
  await withEngine(databaseUrl, async (engine) => {
    for (const migrationName of names) await engine.markMigrationRolledBack({ migrationName });
  });
}

async function applyMigrations(databaseUrl: string, folder: string): Promise<undefined> {
  const migrationsList = await readMigrations(folder);
  await withEngine(databaseUrl, (engine) => engine.applyMigrations({ migrationsList, filters: noFilters }));
}

/**
 * The SQL that makes the tables of `prisma/schema.prisma` from nothing. A test holds it against the migrations' result,
 * so that a change of the schema without its migration fails.
 */
export async function schemaScript(databaseUrl: string): Promise<string> {
  const content = await readFile("prisma/schema.prisma", "utf8");
  return withEngine(databaseUrl, async (engine) => {
    const { stdout } = await engine.diff({
      from: { tag: "empty" },
      to: { tag: "schemaDatamodel", files: [{ path: "schema.prisma", content }] },
      script: true,
      exitCode: null,
      filters: noFilters,
    });
    return stdout ?? "";
  });
}

type Bindings = typeof import("@prisma/schema-engine-wasm/schema_engine_bg");

let bindings: Promise<Bindings> | undefined;

/** Loads the WASM module; a process can hold only one instance of it. */
async function loadEngine(): Promise<Bindings> {
  (globalThis as { PRISMA_WASM_PANIC_REGISTRY?: object }).PRISMA_WASM_PANIC_REGISTRY ??= {
    set_message: (message: string) => process.stderr.write(`The schema engine stopped: ${message}\n`),
  };
  const loaded = await import("@prisma/schema-engine-wasm/schema_engine_bg");
  const engine = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm");
  const file = join(dirname(engine), "schema_engine_bg.wasm");
  const { instance } = await WebAssembly.instantiate(await readFile(file), {
    "./schema_engine_bg.js": withoutLingeringTimers(loaded),
  });
  loaded.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start: () => void }).__wbindgen_start();
  return loaded;
}

/** The module's imports, with its timer (the 10 s bound of taking its lock) no longer holding up a process's end. */
function withoutLingeringTimers(loaded: object): WebAssembly.ModuleImports {
  const imports = Object.entries(loaded).map(([name, value]) =>
    name.startsWith("__wbg_setTimeout_")
      ? [name, (callback: () => void, ms: number) => setTimeout(callback, ms >>> 0).unref()]
      : [name, value],
  );
  return Object.fromEntries(imports);
}

/**
 * Runs one call of the engine. The adapter is closed behind it: left open, its advisory lock blocks the next call.
 *
 * @throws what PostgreSQL said to a migration, where that is what failed; otherwise the engine's error.
 */
async function withEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  bindings ??= loadEngine();
  const { SchemaEngine } = await bindings;
  const opened: SqlDriverAdapter[] = [];
  let failure: unknown;
  const database = new pg.Pool({ connectionString: databaseUrl, application_name: "spoor-migrate" });
  database.on("error", () => {}); // the statement that meets it fails as well
  const factory = new PrismaPg(database);
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    opened.push(adapter);
    adapter.executeScript = (script) =>
      runWhole(database, script).catch((error) => {
        failure = error;
        throw error;
      });
    return adapter;
  };
  const engine = await SchemaEngine.new(
    { datamodels: undefined },
    () => {},
    bindMigrationAwareSqlAdapterFactory(factory),
  );
  try {
    return await work(engine);
  } catch (error) {
    throw failure ?? error;
  } finally {
    engine.free();
    await Promise.all(opened.map((adapter) => adapter.dispose()));
    await database.end();
  }
}

/**
 * Runs a migration in one transaction, as PostgreSQL reads it: the adapter's own way splits it at every semicolon and
 * commits each part.
 */
async function runWhole(database: pg.Pool, script: string): Promise<void> {
  const client = await database.connect();
  let broken: Error | undefined;
  try {
    await client.query("begin");
    await client.query(`set local lock_timeout = '${lockTimeout}'`);
    await client.query(script);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

async function readMigrations(folder = ownFolder): Promise<MigrationList> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const migrationDirectories = await Promise.all(
    names.map(async (path) => ({
      path,
      migrationFile: {
        path: "migration.sql",
        content: { tag: "ok" as const, value: await readFile(join(folder, path, "migration.sql"), "utf8") },
      },
    })),
  );
  return {
    baseDir: folder,
    lockfile: { path: "migration_lock.toml", content: await readFile(join(folder, "migration_lock.toml"), "utf8") },
    shadowDbInitScript: "",
    migrationDirectories: migrationDirectories as MigrationList["migrationDirectories"],
  };
}
