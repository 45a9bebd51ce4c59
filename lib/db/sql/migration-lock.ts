// SQL: advisory locks, on a separate connection.
import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { EnvError } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { withRequiredAuth } from "#lib/db/required-auth";

/** Prisma's schema engine takes the same lock. */
const migrationLock = 72_707_369;

/** A pooler may keep a session's lock, as Prisma takes it, so the wait for it is shorter. */
const patience = { transactionSeconds: 600, sessionSeconds: 60 };
const againMs = 250;
const noteAfter = 20;

type Holder = { pid: number; application: string; began: string | null };

/**
 * A transaction on its own connection holds the lock, so that it ends with the connection.
 * @throws EnvError naming who holds it for too long
 */
export async function withMigrationLock<T>(
  databaseUrl: string,
  work: () => Promise<T>,
  { transactionSeconds, sessionSeconds } = patience,
): Promise<T> {
  const client = new pg.Client({ connectionString: withRequiredAuth(databaseUrl), application_name: "spoor-migrate" });
  client.on("error", () => {}); // the next statement fails as well
  await client.connect();
  try {
    const startedAt = performance.now();
    let seen: { holder: Holder; at: number } | undefined;
    for (let tries = 0; !(await tryLock(client)); tries += 1) {
      const holder = await findHolder(client);
      if (holder && holder.pid !== seen?.holder.pid) seen = { holder, at: performance.now() };
      const isTransaction = holder?.began !== null && holder?.began === seen?.holder.began;
      const heldSeconds = (performance.now() - (seen?.at ?? startedAt)) / 1000;
      if (holder && heldSeconds > (isTransaction ? transactionSeconds : sessionSeconds))
        throw heldBy(holder, heldSeconds);
      if (tries === noteAfter) log.warn({ holder }, "another process migrates the database; waiting for it");
      await sleep(againMs);
    }
    return await work();
  } finally {
    await client.query("rollback").catch(() => {}); // if the connection is gone, PostgreSQL has rolled back
    await client.end();
  }
}

async function tryLock(client: pg.Client): Promise<boolean> {
  // A server may end idle transactions, as this one is.
  await client.query("begin; set local idle_in_transaction_session_timeout = 0");
  const { rows } = await client.query<{ mine: boolean }>("select pg_try_advisory_xact_lock($1) as mine", [
    migrationLock,
  ]);
  if (rows[0]?.mine) return true;
  await client.query("rollback");
  return false;
}

async function findHolder(client: pg.Client): Promise<Holder | undefined> {
  const { rows } = await client.query<Holder>(
    `select pid, coalesce(application_name, '') as application, xact_start::text as began
     from pg_locks left join pg_stat_activity using (pid)
     where locktype = 'advisory' and granted and classid = 0 and objid = $1
       and pg_locks.database = (select oid from pg_database where datname = current_database())`,
    [migrationLock],
  );
  return rows[0];
}

function heldBy({ pid, application }: Holder, seconds: number): EnvError {
  return new EnvError(
    `Another session has held the lock of migrations for ${Math.round(seconds)} s: process ${pid} of PostgreSQL ` +
      `(${application || "unknown"}). If nothing migrates this database, a pooler has kept the session; end it: ` +
      `select pg_terminate_backend(${pid});`,
  );
}
