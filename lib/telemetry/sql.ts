// Leases and pauses use the database's clock, since those of processes may differ.
import "server-only";
import { pool } from "#lib/db/client";
import type { ForwardOutbox, Prisma, TelemetryReport } from "#lib/generated/prisma/client";
import type { DiagnosedMachine, DiagnosticsReader } from "#lib/telemetry/diagnostics";
import type { ScanSums, VersionHealth } from "#lib/telemetry/health";
import type { Submission } from "#lib/telemetry/schema";

type Transaction = Prisma.TransactionClient;

/** SQL: one statement is much faster, and Prisma drops a key `__proto__` of a JSON value. @returns the report's id */
export async function insertReport(tx: Transaction, report: Submission, userId: string | null): Promise<string> {
  const { diagnostics, events } = report;
  const [names, properties] = [events.map(({ name }) => name), events.map((event) => event.properties)];
  const [inserted] = await tx.$queryRaw<Pick<TelemetryReport, "id">[]>`
    with report as (
      insert into telemetry_report (user_id, schema, device_id, cli_version, platform, arch, command, sent_at)
      values (${userId}::uuid, ${report.schema}::float8, ${report.deviceId}, ${report.cliVersion}, ${report.platform},
        ${report.arch}, ${report.command}, ${report.sentAt ?? null}) returning id
    ), inserted_diagnostics as (
      insert into diagnostic (report_id, position, adapter, source, total_entries, skipped_entries, invalid_entries,
        event_count, trace_count, rejected_traces, unhandled_types, empty_parse)
      select report.id, position - 1, item->>'adapter', item->>'source', (item->>'totalEntries')::bigint,
        (item->>'skippedEntries')::bigint, (item->>'invalidEntries')::bigint, (item->>'eventCount')::bigint,
        (item->>'traceCount')::bigint, (item->>'rejectedTraces')::bigint,
        array(select jsonb_array_elements_text(item->'unhandledTypes')), (item->>'emptyParse')::boolean
      from report, jsonb_array_elements(${JSON.stringify(diagnostics)}::jsonb) with ordinality as items (item, position)
    ), inserted_events as (
      insert into client_event (report_id, position, name, properties)
      select report.id, position - 1, name, properties::jsonb
      from report, unnest(${names}::text[], ${properties}::text[]) with ordinality as items (name, properties, position)
    )
    select id from report`;
  if (!inserted) throw new Error("a report was not inserted");
  return inserted.id;
}

/** SQL: compares with the database's clock. */
export async function isSinkOpen(
  tx: Transaction,
  fingerprint: string,
  keys: { disabled: string; paused: string },
): Promise<boolean> {
  const blocked = await tx.$queryRaw<unknown[]>`
    select 1 as blocked from server_setting where value = ${fingerprint}
      and (key = ${keys.disabled} or (key = ${keys.paused} and updated_at > now()))`;
  return blocked.length === 0;
}

/** A longer pause of the same sink stays. SQL: a conditional upsert, by the database's clock. */
export async function upsertPause(key: string, fingerprint: string, seconds: number): Promise<void> {
  await pool().query(
    `insert into server_setting (key, value, updated_at) values ($1, $2, now() + make_interval(secs => $3))
     on conflict (key) do update set value = excluded.value,
       updated_at = case when server_setting.value = excluded.value
         then greatest(server_setting.updated_at, excluded.updated_at) else excluded.updated_at end`,
    [key, fingerprint, seconds],
  );
}

/** SQL: a lease, counted by the database's clock. */
export async function insertOutbox(tx: Transaction, reportId: string, attempts: number, seconds: number) {
  await tx.$executeRaw`
    insert into forward_outbox (report_id, attempts, due_at)
    values (${reportId}::uuid, ${attempts}, now() + make_interval(secs => ${seconds}))`;
}

export type OutboxRow = Pick<ForwardOutbox, "reportId" | "attempts">;

/** Nobody else gets the row until its lease ends. SQL: `for update skip locked`. */
export async function claimOutboxRow(leaseSeconds: number): Promise<OutboxRow | undefined> {
  const { rows } = await pool().query<OutboxRow>(
    `update forward_outbox set attempts = attempts + 1, due_at = now() + make_interval(secs => $1)
     where report_id = (select report_id from forward_outbox where due_at <= now() order by due_at limit 1
       for update skip locked)
     returning report_id as "reportId", attempts`,
    [leaseSeconds],
  );
  return rows[0];
}

/** Another process may have counted an attempt since. SQL: a lease by the database's clock. */
export async function postponeOutboxRow({ reportId, attempts }: OutboxRow, seconds: number): Promise<void> {
  await pool().query(
    "update forward_outbox set due_at = now() + make_interval(secs => $3) where report_id = $1 and attempts = $2",
    [reportId, attempts, seconds],
  );
}

/** Ends waits that are longer than any: of reports, and the pause under a key. SQL: by the database's clock. */
export async function endLongWaits(pauseKey: string, longestSeconds: number): Promise<void> {
  await pool().query(
    `with paused as (update server_setting set updated_at = now() where key = $1 and updated_at > now() + make_interval(secs => $2))
     update forward_outbox set due_at = now() where due_at > now() + make_interval(secs => $2)`,
    [pauseKey, longestSeconds],
  );
}

/**
 * SQL: keys with a missing user (nulls not distinct), and three steps in one statement.
 * @returns today's number of pairs of adapter and version, and this version's adapters
 */
export async function upsertDevice(
  tx: Transaction,
  { deviceId, cliVersion, platform, arch }: Submission,
  { userId, machine }: { userId: string | null; machine: string | null },
  sums: { adapter: string; troubled: boolean }[],
): Promise<{ pairs: number; adapters: string[] }> {
  const [adapters, troubled] = [sums.map(({ adapter }) => adapter), sums.map((one) => Number(one.troubled))];
  const [today] = await tx.$queryRaw<[{ pairs: number; adapters: string[] }]>`
    with device as (
      insert into telemetry_device (user_id, device_id, machine, cli_version, platform, arch)
      values (${userId}::uuid, ${deviceId}, ${machine}, ${cliVersion}, ${platform}, ${arch})
      on conflict (user_id, device_id) do update set machine = coalesce(excluded.machine, telemetry_device.machine),
        cli_version = excluded.cli_version, platform = excluded.platform, arch = excluded.arch, seen_at = now()
    ), machines as (
      insert into diagnostic_machine (user_id, adapter, cli_version, device_id, troubled)
      select ${userId}::uuid, adapter, ${cliVersion}, ${deviceId}, troubled
      from unnest(${adapters}::text[], ${troubled}::int[]) as sums (adapter, troubled)
      on conflict (adapter, cli_version, user_id, device_id) do update
        set troubled = diagnostic_machine.troubled + excluded.troubled, seen_at = now()
    )
    select count(*)::int as pairs, coalesce(array_agg(adapter) filter (where cli_version = ${cliVersion}), '{}') as adapters
    from diagnostic_day where user_id is not distinct from ${userId}::uuid and day = (now() at time zone 'UTC')::date`;
  return today;
}

export type DaySums = ScanSums & { adapter: string; unhandled: Record<string, number> };

/** Sums stop at `maxSum`; beyond `maxTypes`, new types are counted under the empty name. SQL: one upsert that merges JSON. */
export async function upsertDays(
  tx: Transaction,
  key: { userId: string | null; cliVersion: string },
  sums: DaySums[],
  { maxSum, maxTypes }: { maxSum: number; maxTypes: number },
): Promise<void> {
  const all = <T>(read: (one: DaySums) => T) => sums.map(read);
  await tx.$executeRaw`
    insert into diagnostic_day as stored (user_id, day, adapter, cli_version, scans, entries, skipped, invalid, traces,
      rejected, empty_parses, unhandled)
    select ${key.userId}::uuid, (now() at time zone 'UTC')::date, adapter, ${key.cliVersion}, scans, entries, skipped,
      invalid, traces, rejected, empty_parses, unhandled
    from unnest(${all((one) => one.adapter)}::text[], ${all((one) => one.scans)}::bigint[],
      ${all((one) => one.entries)}::bigint[], ${all((one) => one.skipped)}::bigint[],
      ${all((one) => one.invalid)}::bigint[], ${all((one) => one.traces)}::bigint[],
      ${all((one) => one.rejected)}::bigint[], ${all((one) => one.emptyParses)}::bigint[],
      ${all((one) => JSON.stringify(one.unhandled))}::jsonb[])
      as sums (adapter, scans, entries, skipped, invalid, traces, rejected, empty_parses, unhandled)
    on conflict (user_id, day, adapter, cli_version) do update set
      scans = least(${maxSum}::bigint, stored.scans + excluded.scans),
      entries = least(${maxSum}::bigint, stored.entries + excluded.entries),
      skipped = least(${maxSum}::bigint, stored.skipped + excluded.skipped),
      invalid = least(${maxSum}::bigint, stored.invalid + excluded.invalid),
      traces = least(${maxSum}::bigint, stored.traces + excluded.traces),
      rejected = least(${maxSum}::bigint, stored.rejected + excluded.rejected),
      empty_parses = least(${maxSum}::bigint, stored.empty_parses + excluded.empty_parses),
      seen_at = now(),
      unhandled = case when excluded.unhandled = '{}' then stored.unhandled else coalesce((
        select jsonb_object_agg(type, least(${maxSum}::bigint, total)) from (
          select case when rank <= ${maxTypes}::int then type else '' end as type, sum(count) as total from (
            select type, count, dense_rank() over (order by known desc, type) as rank from (
              select key as type, value::numeric as count, stored.unhandled ? key as known
                from jsonb_each_text(stored.unhandled)
              union all
              select key, value::numeric, stored.unhandled ? key from jsonb_each_text(excluded.unhandled)
            ) as both_days) as ranked group by 1) as summed), '{}') end`;
}

export type AdapterVersions = (readonly [adapter: string, cliVersion: string])[];

const toColumns = (pairs: AdapterVersions) => [
  pairs.map(([adapter]) => adapter),
  pairs.map(([, cliVersion]) => cliVersion),
];

/** A query for everybody has to mention `$1`, too. */
const ownRows = ({ seesAll }: DiagnosticsReader) => (seesAll ? "$1::uuid is not null" : "user_id = $1");

/** Adapters with the most scans first. SQL: a roll-up. */
export async function readVersions(reader: DiagnosticsReader, days: number, maxAdapters: number) {
  const { rows } = await pool().query<VersionHealth & { adapter: string }>(
    `with sums as (
       select adapter, cli_version, sum(scans) as scans, sum(entries) as entries, sum(skipped) as skipped,
         sum(invalid) as invalid, sum(traces) as traces, sum(rejected) as rejected, sum(empty_parses) as empty_parses,
         max(seen_at) as seen_at
       from diagnostic_day where ${ownRows(reader)} and day > (now() at time zone 'UTC')::date - $2::int
       group by adapter, cli_version
     ), shown as (select adapter from sums group by adapter order by sum(scans) desc, adapter limit $3)
     select adapter, cli_version as "cliVersion", scans::float8, entries::float8, skipped::float8, invalid::float8,
       traces::float8, rejected::float8, empty_parses::float8 as "emptyParses", seen_at as "seenAt"
     from sums join shown using (adapter)`,
    [reader.userId, days, maxAdapters],
  );
  return rows;
}

/** SQL: a roll-up. */
export async function readDays(reader: DiagnosticsReader, days: number, adapters: string[]) {
  const { rows } = await pool().query<ScanSums & { adapter: string; daysAgo: number }>(
    `select adapter, (now() at time zone 'UTC')::date - day as "daysAgo", sum(scans)::float8 as scans,
       sum(entries)::float8 as entries, sum(skipped)::float8 as skipped, sum(invalid)::float8 as invalid,
       sum(traces)::float8 as traces, sum(rejected)::float8 as rejected, sum(empty_parses)::float8 as "emptyParses"
     from diagnostic_day where ${ownRows(reader)} and day > (now() at time zone 'UTC')::date - $2::int
       and adapter = any($3)
     group by adapter, day`,
    [reader.userId, days, adapters],
  );
  return rows;
}

/** SQL: a roll-up of JSON. */
export async function readTypes(reader: DiagnosticsReader, days: number, pairs: AdapterVersions, maxTypes: number) {
  const { rows } = await pool().query<{ adapter: string; type: string; count: number }>(
    `select adapter, type, count::float8 from (
       select adapter, type, sum(count::numeric) as count,
         row_number() over (partition by adapter order by type = '', sum(count::numeric) desc, type) as place
       from diagnostic_day join unnest($2::text[], $3::text[]) as latest (adapter, cli_version) using (adapter, cli_version),
         jsonb_each_text(unhandled) as types (type, count)
       where ${ownRows(reader)} and day > (now() at time zone 'UTC')::date - $4::int group by adapter, type) as counted
     where place <= $5 or type = '' order by adapter, place`,
    [reader.userId, ...toColumns(pairs), days, maxTypes],
  );
  return rows;
}

/** SQL: the latest of each pair, out of a bounded number. */
export async function readTroubledMachines(
  reader: DiagnosticsReader,
  pairs: AdapterVersions,
  max: { machines: number; counted: number },
) {
  const { rows } = await pool().query<DiagnosedMachine & { adapter: string }>(
    `select latest.adapter, found.device_id as "deviceId", device.machine, "user".name as "userName",
       found.seen_at as "seenAt"
     from unnest($2::text[], $3::text[]) as latest (adapter, cli_version) cross join lateral (
       select * from (
         select user_id, device_id, seen_at from diagnostic_machine
         where adapter = latest.adapter and cli_version = latest.cli_version and ${ownRows(reader)} and troubled > 0
         limit $5) as bounded
       order by seen_at desc limit $4) as found
     left join telemetry_device device on device.device_id = found.device_id
       and device.user_id is not distinct from found.user_id
     left join "user" on "user".id = found.user_id
     order by found.seen_at desc`,
    [reader.userId, ...toColumns(pairs), max.machines, max.counted],
  );
  return rows;
}

/** SQL: a bounded count for each pair. */
export async function countTroubledMachines(reader: DiagnosticsReader, pairs: AdapterVersions, max: number) {
  const { rows } = await pool().query<{ adapter: string; cliVersion: string; count: number }>(
    `select shown.adapter, shown.cli_version as "cliVersion", counted.count
     from unnest($2::text[], $3::text[]) as shown (adapter, cli_version)
     cross join lateral (select count(*)::int as count from (
       select 1 from diagnostic_machine where adapter = shown.adapter and cli_version = shown.cli_version
         and ${ownRows(reader)} and troubled > 0 limit $4) as bounded) as counted`,
    [reader.userId, ...toColumns(pairs), max],
  );
  return rows;
}

/** SQL: reads the newest jobs by their key, since no index has the machine. */
export async function readLastUploads(userId: string, max: number) {
  const { rows } = await pool().query<{ machine: string; at: Date }>(
    `select machine, max(created_at) as at from (
       select machine, created_at from ingest_job where user_id = $1 order by id desc limit $2) as recent
     group by machine`,
    [userId, max],
  );
  return new Map(rows.map(({ machine, at }) => [machine, at]));
}
