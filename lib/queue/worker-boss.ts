import "server-only";
import { PgBoss } from "pg-boss";
import { log } from "#lib/log";

/**
 * A worker's pg-boss instance, with its own connections and LISTEN. The caller starts and stops it.
 *
 * Its own writes (taken, completed, to be retried) use `synchronous_commit=off`: if a crash of the database loses one, the
 * entry is handed out again and the job's row says that it is already done.
 */
export function makeWorkerBoss(databaseUrl: string): PgBoss {
  const connection = new URL(databaseUrl);
  const given = connection.searchParams.get("options");
  connection.searchParams.set("options", [...(given ? [given] : []), "-c synchronous_commit=off"].join(" "));
  const boss = new PgBoss({
    connectionString: connection.href,
    application_name: "spoor-queue",
    max: 6,
    useListenNotify: true,
    monitorIntervalSeconds: 1,
    superviseIntervalSeconds: 1,
    migrate: false,
    createSchema: false,
  });
  boss.on("error", (error) => log.warn({ err: error }, "pg-boss reported an error"));
  return boss;
}
