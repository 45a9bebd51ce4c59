import "server-only";
import type pg from "pg";
import { type Clock, PgBoss, systemClock } from "pg-boss";
import { log } from "#lib/core/log";
import { withRequiredAuth } from "#lib/db/required-auth";
import { commitLater } from "#lib/queue/sql";

const connections = { statements: 2, listening: 1 };

/** If the wall clock were set back, pg-boss would look for killed workers' entries later by the same time. */
const steadyClock: Clock = { ...systemClock, now: () => Math.floor(performance.timeOrigin + performance.now()) };

export const queueConnections = connections.statements + connections.listening;

/**
 * It does not wait for the disk: an entry whose completion a crash loses is handed out again.
 * @param hasSessions false behind a pooler, where a connection can't listen, and its settings reach other clients
 */
export function makeWorkerBoss(databaseUrl: string, hasSessions: boolean): PgBoss {
  const boss = new PgBoss({
    connectionString: withRequiredAuth(databaseUrl),
    application_name: "spoor-queue",
    clock: steadyClock,
    max: connections.statements,
    useListenNotify: hasSessions,
    monitorIntervalSeconds: 1,
    superviseIntervalSeconds: 1,
    schedule: false,
    migrate: false,
    createSchema: false,
    // A pooler in session mode refuses `options` among the start-up parameters.
    ...(hasSessions && ({ onConnect: commitLater } satisfies pg.PoolConfig)),
  });
  boss.on("error", (error) => log.warn({ err: error }, "pg-boss reported an error"));
  return boss;
}
