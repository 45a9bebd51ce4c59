// Prisma's schema engine as WASM, to compare lib/db/migrate.ts and the migrations with Prisma.
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory, type SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import type { MigrationList, SchemaEngine } from "@prisma/schema-engine-wasm";
import pg from "pg";

const filters = { externalTables: [], externalEnums: [] };

/** Returns the SQL that creates the tables of `prisma/schema.prisma` in an empty database. */
export async function schemaScript(databaseUrl: string): Promise<string> {
  const content = await readFile("prisma/schema.prisma", "utf8");
  return withEngine(databaseUrl, async (engine) => {
    const { stdout } = await engine.diff({
      from: { tag: "empty" },
      to: { tag: "schemaDatamodel", files: [{ path: "schema.prisma", content }] },
      script: true,
      exitCode: null,
      filters,
    });
    return stdout ?? "";
  });
}

/** Does what `prisma migrate deploy` does. @returns the names of the applied migrations */
export async function deployWithPrisma(databaseUrl: string, folder?: string): Promise<string[]> {
  const migrationsList = await readMigrations(folder);
  const { appliedMigrationNames } = await withEngine(databaseUrl, (engine) =>
    engine.applyMigrations({ migrationsList, filters }),
  );
  return appliedMigrationNames;
}

/** Returns the report of `prisma migrate status`. */
export async function diagnoseWithPrisma(databaseUrl: string, folder?: string) {
  const migrationsList = await readMigrations(folder);
  return withEngine(databaseUrl, (engine) =>
    engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters }),
  );
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
    "./schema_engine_bg.js": loaded as unknown as WebAssembly.ModuleImports,
  });
  loaded.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start: () => void }).__wbindgen_start();
  return loaded;
}

/** Runs one call of the engine. The adapter is closed afterwards: its advisory lock would block the next call. */
async function withEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  bindings ??= loadEngine();
  const { SchemaEngine } = await bindings;
  const opened: SqlDriverAdapter[] = [];
  const database = new pg.Pool({ connectionString: databaseUrl });
  const factory = new PrismaPg(database);
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    opened.push(adapter);
    // Does what the CLI's native engine does; the adapter would split a script at every semicolon, even in quotes.
    adapter.executeScript = async (script) => void (await database.query(script));
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
    await database.end();
  }
}

async function readMigrations(folder = "prisma/migrations"): Promise<MigrationList> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const migrationDirectories = await Promise.all(
    names.sort().map(async (path) => ({
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
