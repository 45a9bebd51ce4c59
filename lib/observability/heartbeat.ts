import "server-only";
import { pool } from "#lib/db/client";

/** Says that a worker lives. @param id of the process, made by itself */
export async function beat(id: string): Promise<void> {
  await pool().query(
    `insert into process_heartbeat (id, role) values ($1, 'worker') on conflict (id) do update set seen_at = now()`,
    [id],
  );
}

/** Takes a worker's word back, as it stops. */
export async function stopBeating(id: string): Promise<void> {
  await pool().query("delete from process_heartbeat where id = $1", [id]);
}

/** Whether a worker was seen in the last 60 seconds. */
export async function workerSeen(): Promise<boolean> {
  const { rowCount } = await pool().query(
    "select 1 from process_heartbeat where role = 'worker' and seen_at > now() - interval '60 seconds' limit 1",
  );
  return rowCount === 1;
}

/** Removes what workers left behind that were killed. */
export async function purgeHeartbeats(): Promise<void> {
  await pool().query("delete from process_heartbeat where seen_at < now() - interval '1 day'");
}
