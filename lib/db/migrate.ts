import "server-only";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory, type SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import type { MigrationList, SchemaEngine } from "@prisma/schema-engine-wasm";
import pg from "pg";

/** Any number works, as long as everything that migrates a Spoor database takes the same. */
const migrationLock = 7_305_821;

const folder = resolve("prisma/migrations");
const noFilters = { externalTables: [], externalEnums: [] };

/**
 * Brings a database to this version: Prisma's migrations, recorded in `_prisma_migrations` so that
 * `prisma migrate deploy` agrees, then whatever `after` does on the same terms (the job queue's tables).
 * Several processes may call it at once; they take turns.
 *
 * @returns the names of the migrations that this call applied.
 */
export async function migrate(databaseUrl: string, after: () => Promise<void>): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "spoor-migrate" });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    const applied = await applyMigrations(databaseUrl);
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

async function applyMigrations(databaseUrl: string): Promise<string[]> {
  const migrationsList = await readMigrations();
  return withEngine(databaseUrl, async (engine) => {
    const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters: noFilters });
    return appliedMigrationNames;
  });
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

/** Runs one call of the engine. The adapter is closed behind it: left open, its advisory lock blocks the next call. */
async function withEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  bindings ??= loadEngine();
  const { SchemaEngine } = await bindings;
  const opened: SqlDriverAdapter[] = [];
  const factory = new PrismaPg({ connectionString: databaseUrl });
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    opened.push(adapter);
    return adapter;
  };
  const engine = await SchemaEngine.new(
    { datamodels: undefined },
    () => {},
    bindMigrationAwareSqlAdapterFactory(factory),
  );
  try {
    return await work(engine);
  } finally {
    engine.free();
    await Promise.all(opened.map((adapter) => adapter.dispose()));
  }
}

async function readMigrations(): Promise<MigrationList> {
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
