import "server-only";
import type pg from "pg";
import { PgBoss } from "pg-boss";
import { withRequiredAuth } from "#lib/db/required-auth";
import { log } from "#lib/log";
import { commitLater } from "#lib/queue/sql";

/** How many connections a worker's queue has: for its statements, which are short, and one that listens. */
const connections = { statements: 2, listening: 1 };

export const queueConnections = connections.statements + connections.listening;

/**
 * A worker's pg-boss instance, with its own connections and LISTEN. The caller starts and stops it.
 *
 * Its own writes (taken, completed, to be retried) use `synchronous_commit=off`: if a crash of the database loses one, the
 * entry is handed out again and the job's row says that it is already done.
 *
 * @param hasSessions false where a pooler in transaction mode is in front of the database: no connection can listen then, and
 *   what is set on one reaches others' transactions.
 */
export function makeWorkerBoss(databaseUrl: string, hasSessions: boolean): PgBoss {
  const boss = new PgBoss({
    connectionString: withRequiredAuth(databaseUrl),
    application_name: "spoor-queue",
    max: connections.statements,
    useListenNotify: hasSessions,
    monitorIntervalSeconds: 1,
    superviseIntervalSeconds: 1,
    schedule: false,
    migrate: false,
    createSchema: false,
    // By a statement, since a pooler in session mode refuses `options` among the start-up parameters. The pool waits for it.
    ...(hasSessions && ({ onConnect: commitLater } satisfies pg.PoolConfig)),
  });
  boss.on("error", (error) => log.warn({ err: error }, "pg-boss reported an error"));
  return boss;
}
