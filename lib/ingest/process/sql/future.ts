// SQL: pg-boss's tables, and the database's clock.
import "server-only";
import { pool } from "#lib/db/client";
import { queues } from "#lib/queue/queues";

/** Longer than the queue's pauses and the difference of clocks. */
const future = "now() + interval '5 minutes'";

export async function hastenEntries(): Promise<number> {
  const { rowCount } = await pool().query(
    `update pgboss.job set start_after = least(start_after, now()), created_on = least(created_on, now()),
       heartbeat_on = least(heartbeat_on, now()), started_on = least(started_on, now())
     where name = any($1) and state < 'completed'
       and (start_after > ${future} or heartbeat_on > ${future} or started_on > ${future})`,
    [Object.values(queues)],
  );
  return rowCount ?? 0;
}

/** pg-boss begins each pass an interval after these times. */
const passes = {
  queue: ["monitor_claim_on", "monitor_on", "maintain_on"],
  version: ["cron_on", "bam_on", "flow_on", "reindex_on", "monitor_backoff_on"],
};

/** These passes find entries of killed workers. */
export async function hastenQueues(): Promise<number> {
  let changed = 0;
  for (const [table, columns] of Object.entries(passes)) {
    const set = columns.map((column) => `${column} = case when ${column} > ${future} then now() else ${column} end`);
    const { rowCount } = await pool().query(
      `update pgboss.${table} set ${set.join(", ")} where greatest(${columns.join(", ")}) > ${future}`,
    );
    changed += rowCount ?? 0;
  }
  return changed;
}

/** Living processes return with their next heartbeat. */
export async function forgetHeartbeats(): Promise<void> {
  await pool().query(`delete from process_heartbeat where seen_at > ${future}`);
}

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
