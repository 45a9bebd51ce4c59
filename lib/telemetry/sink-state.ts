import "server-only";
import { createHash } from "node:crypto";
import { pool, type Queryable } from "#lib/db/client";
import { env } from "#lib/env";
import { readSink, type Sink } from "#lib/telemetry/sink";

// What a sink asked of us holds for all processes, so it stands in the database: a row of the server's settings whose
// value names the sink's own settings, so that other ones begin anew.
const disabledKey = "telemetry_sink_disabled";
const pausedKey = "telemetry_sink_paused";

const fingerprint = ({ kind, url, key }: Sink) =>
  createHash("sha256")
    .update(JSON.stringify([kind, url, key]))
    .digest("hex");

/** Whether a sink may be asked: one that answered 410 may not at all, one that told us to wait only later. */
export async function isOpen(runner: Queryable, sink: Sink): Promise<boolean> {
  const { rowCount } = await runner.query(
    `select 1 from server_setting where value = $1 and (key = $2 or (key = $3 and updated_at > now()))`,
    [fingerprint(sink), disabledKey, pausedKey],
  );
  return rowCount === 0;
}

/** Asks a sink nothing for so many seconds. A longer pause that it told before stays. */
export async function pauseSink(sink: Sink, seconds: number): Promise<void> {
  await pool().query(
    `insert into server_setting (key, value, updated_at) values ($1, $2, now() + make_interval(secs => $3))
     on conflict (key) do update set value = excluded.value,
       updated_at = case when server_setting.value = excluded.value
         then greatest(server_setting.updated_at, excluded.updated_at) else excluded.updated_at end`,
    [pausedKey, fingerprint(sink), seconds],
  );
}

/** Asks a sink nothing any more, until a start or other settings. */
export async function disableSink(sink: Sink): Promise<void> {
  await pool().query(
    `insert into server_setting (key, value, updated_at) values ($1, $2, now())
     on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`,
    [disabledKey, fingerprint(sink)],
  );
}

/** When the sink of this server's settings was disabled; undefined where it is not, or there is none. */
export async function whenSinkWasDisabled(): Promise<Date | undefined> {
  const sink = readSink(env());
  if (!sink) return undefined;
  const { rows } = await pool().query<{ updated_at: Date }>(
    "select updated_at from server_setting where key = $1 and value = $2",
    [disabledKey, fingerprint(sink)],
  );
  return rows[0]?.updated_at;
}

/** Forgets what sinks asked of us. A start does it. */
export async function enableSinks(): Promise<void> {
  await pool().query("delete from server_setting where key in ($1, $2)", [disabledKey, pausedKey]);
}
