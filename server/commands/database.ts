// The launcher loads only what it needs.
import "server-only";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { directDatabaseUrl, env, requiredEnv, setEnv } from "#lib/core/env";
import { EnvError, isOutage, postgresCode } from "#lib/core/errors";
import { type EmbeddedDatabase, type StartOptions, startEmbedded } from "#lib/db/embedded/embedded";
import { readOrMake } from "#lib/db/embedded/owner";
import { warn } from "#server/commands/command";

type Start = Pick<StartOptions, "kind" | "signal">;

type PreparedDatabase = Pick<EmbeddedDatabase, "keep" | "whenUp" | "stop">;

async function prepareSecret(): Promise<void> {
  const { DATABASE_URL, AUTH_SECRET, DATA_DIR } = env();
  if (DATABASE_URL || AUTH_SECRET) return void requiredEnv("AUTH_SECRET");
  setEnv({
    AUTH_SECRET: await readOrMake(join(DATA_DIR, "auth.secret"), () => randomBytes(32).toString("base64url")),
  });
}

/**
 * Sets `DATABASE_URL` and `AUTH_SECRET` for this process and its children.
 * @throws EnvError if only `DATABASE_URL` is set
 */
export async function prepareDatabase(start: Start = {}): Promise<PreparedDatabase> {
  await prepareSecret();
  const { DATABASE_URL, DATA_DIR } = env();
  if (DATABASE_URL) return { keep: () => new Promise(() => {}), whenUp: async () => {}, stop: async () => {} };
  const database = await startEmbedded(DATA_DIR, { ...start, say: warn });
  setEnv({ DATABASE_URL: database.url });
  return database;
}

export async function prepareSchema(): Promise<string[]> {
  const [{ migrate }, { installQueues }] = await Promise.all([import("#lib/db/migrate"), import("#lib/queue/queues")]);
  const url = directDatabaseUrl();
  return migrate(url, () => installQueues(url));
}

/**
 * Runs `work` with the database prepared, and ends this process's use of it.
 * @throws EnvError if the database can't be used; the signal's reason if that ended the start
 */
export async function withDatabase<T>(work: (database: PreparedDatabase) => Promise<T>, start: Start = {}): Promise<T> {
  const database = await prepareDatabase(start);
  try {
    return await work(database);
  } catch (error) {
    throw explained(error);
  } finally {
    const { closeDatabase } = await import("#lib/db/client");
    await closeDatabase();
    await database.stop();
  }
}

function explained(error: unknown): unknown {
  const refused = /^(28|3D)/.test(postgresCode(error) ?? ""); // authorization; no such database
  if (!(error instanceof Error) || error instanceof EnvError || !(isOutage(error) || refused)) return error;
  const { host, pathname } = new URL(requiredEnv("DATABASE_URL"));
  const text = `The database ${pathname.slice(1)} at ${host} can't be used: ${error.message}\nIs it running, and is DATABASE_URL correct?`;
  return new EnvError(text, { cause: error });
}
