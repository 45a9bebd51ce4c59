import "server-only";
import type { z } from "zod";
import { pool, type Queryable, transaction } from "#lib/db/client";
import { SpoorError } from "#lib/errors";
import { networkOf } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";
import { limits } from "#lib/limits";
import { putIntoOutbox } from "#lib/telemetry/forward";
import { purgeDevices, rollUp, type Sender } from "#lib/telemetry/roll-up";
import type { Submission, telemetryResponse } from "#lib/telemetry/schema";

const { telemetry } = limits;

/**
 * Stores a submission, and forwards it where the operator has a sink. When this returns it is on disk.
 *
 * @param sender whom a valid token named, or undefined.
 * @returns `accepted` is the number of diagnostics stored, `forwarded` whether the sink answered 2xx within 1.5 s.
 */
export async function recordTelemetry(
  submission: Submission,
  sender: Sender,
): Promise<z.input<typeof telemetryResponse>> {
  const firstTry = await transaction(async (tx) => {
    const reportId = await insertReport(tx, submission, sender);
    const forward = await putIntoOutbox(tx, reportId);
    // Last, since everybody's submissions of a day count in the same rows: they are held for the commit alone.
    await rollUp(tx, submission, sender);
    return forward;
  });
  return { ok: true, accepted: submission.diagnostics.length, forwarded: await firstTry() };
}

/** Stores a submission's rows. @returns its id */
export async function insertReport(tx: Queryable, submission: Submission, sender: Sender): Promise<string> {
  const { diagnostics, events } = submission;
  const { rows } = await tx.query<{ id: string }>(
    `insert into telemetry_report (user_id, schema, device_id, cli_version, platform, arch, command, sent_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`,
    [
      sender?.userId ?? null,
      submission.schema,
      submission.deviceId,
      submission.cliVersion,
      submission.platform,
      submission.arch,
      submission.command,
      submission.sentAt ?? null,
    ],
  );
  const reportId = rows[0]?.id ?? "";
  await tx.query(
    `insert into diagnostic (report_id, position, adapter, source, total_entries, skipped_entries, invalid_entries,
       event_count, trace_count, rejected_traces, unhandled_types, empty_parse)
     select $1, position - 1, item->>'adapter', item->>'source', (item->>'totalEntries')::bigint,
       (item->>'skippedEntries')::bigint, (item->>'invalidEntries')::bigint, (item->>'eventCount')::bigint,
       (item->>'traceCount')::bigint, (item->>'rejectedTraces')::bigint,
       array(select jsonb_array_elements_text(item->'unhandledTypes')), (item->>'emptyParse')::boolean
     from jsonb_array_elements($2::jsonb) with ordinality as items (item, position)`,
    [reportId, JSON.stringify(diagnostics)],
  );
  await tx.query(
    `insert into client_event (report_id, position, name, properties)
     select $1, position - 1, name, properties::jsonb
     from unnest($2::text[], $3::text[]) with ordinality as items (name, properties, position)`,
    [reportId, events.map(({ name }) => name), events.map(({ properties }) => properties)],
  );
  return reportId;
}

/** Removes submissions older than 90 days, and devices that sent none for so long; the days' counts stay. @returns how many */
export async function purgeReports(): Promise<number> {
  const { rowCount } = await pool().query(
    "delete from telemetry_report where received_at < now() - make_interval(days => $1)",
    [telemetry.retentionDays],
  );
  await purgeDevices(pool(), telemetry.retentionDays);
  return rowCount ?? 0;
}

/** Counts a submission of an address before anything of it is read. @throws SpoorError `rate_limited` */
export async function limitAddress(address: string): Promise<void> {
  refuseAfter(await overLimit("telemetry-ip", networkOf(address), { points: telemetry.perMinutePerIp, seconds: 60 }));
}

/** Counts a submission of a device. @throws SpoorError `rate_limited` */
export async function limitDevice(deviceId: string): Promise<void> {
  refuseAfter(await overLimit("telemetry-device", deviceId, { points: telemetry.perMinutePerDevice, seconds: 60 }));
}

function refuseAfter(retryAfterSeconds: number | undefined): void {
  if (retryAfterSeconds === undefined) return;
  throw new SpoorError("rate_limited", "Too many submissions; wait before the next.", { retryAfterSeconds });
}
