import "server-only";
import { pool } from "#lib/db/client";
import { purgeLogins } from "#lib/device/login";
import { purgeLimits } from "#lib/http/rate-limit";
import { purgeIdempotencyKeys, purgeUploads } from "#lib/ingest/raw/retention";
import { log } from "#lib/log";
import { purgeHeartbeats } from "#lib/observability/heartbeat";
import { purgeReports } from "#lib/telemetry/record";
import { purgeShares } from "#lib/traces/shares";
import { purgeFacets } from "#lib/usage/count";

/** Removes what is past its time. A worker does it once an hour. */
export async function housekeep(): Promise<void> {
  const uploads = await purgeUploads();
  const idempotencyKeys = await purgeIdempotencyKeys();
  const logins = await purgeLogins();
  const reports = await purgeReports();
  await purgeFacets();
  await purgeShares();
  await purgeLimits();
  await purgeHeartbeats();
  log.info({ uploads, idempotencyKeys, logins, reports }, "housekeeping is done");
}

/** Housekeeping for hosts without a worker's schedule: of all calls within an hour one does it. */
export async function housekeepHourly(): Promise<void> {
  const { rowCount } = await pool().query(
    `insert into server_setting (key, value, updated_at) values ('housekeeping', '', now())
     on conflict (key) do update set updated_at = now() where server_setting.updated_at < now() - interval '1 hour'`,
  );
  if (rowCount === 1) await housekeep();
}
