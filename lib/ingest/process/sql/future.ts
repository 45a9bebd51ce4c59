// What a clock that was ahead has left to be done later, once it is set back. SQL: pg-boss's tables are not in schema.prisma, and the
// database's clock is asked.
import "server-only";
import { pool } from "#lib/db/client";
import { queues } from "#lib/queue/queues";

/** Longer than the queue puts an entry off, and than clocks of several processes differ. */
const future = "now() + interval '5 minutes'";

/** Lets queue entries be taken now that wait for a far later time, and those be taken again whose process was last seen then. */
export async function hastenEntries(): Promise<number> {
  const { rowCount } = await pool().query(
    `update pgboss.job set start_after = least(start_after, now()), created_on = least(created_on, now()),
       heartbeat_on = least(heartbeat_on, now()), started_on = least(started_on, now())
     where name = any($1) and state < 'completed'
       and (start_after > ${future} or heartbeat_on > ${future} or started_on > ${future})`,
    [[queues.ingest, queues.ingestDead]],
  );
  return rowCount ?? 0;
}

/** Lets traces be indexed and counted now that were stored at a far later time. */
export async function hastenTraces(): Promise<number> {
  const isLate = `((search_pending and deleted_at is null) or ledger_due) and stored_at > ${future}`;
  const { rows } = await pool().query<{ userId: string }>(
    `select distinct user_id as "userId" from trace where ${isLate} limit 1000`,
  );
  let changed = 0;
  for (const { userId } of rows) {
    const { rowCount } = await pool().query(`update trace set stored_at = now() where user_id = $1 and ${isLate}`, [
      userId,
    ]);
    changed += rowCount ?? 0;
  }
  return changed;
}
