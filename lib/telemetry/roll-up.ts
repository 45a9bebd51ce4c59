import "server-only";
import type { Queryable } from "#lib/db/client";
import type { ScanSums } from "#lib/telemetry/health";
import type { Submission } from "#lib/telemetry/schema";

/** What is counted apart in a day of a user's, and of an adapter's; what comes beyond is counted under the empty name. */
const bounds = { combinationsPerDay: 200, typesPerDay: 50 };
/** The largest integer that JSON carries exactly. Sums end there instead of overflowing. */
const max = Number.MAX_SAFE_INTEGER;

/** Whose submission it is: nobody's without a token; `machine` is the token's. */
export type Sender = { userId: string; machine: string } | undefined;

/** A submission's diagnostics of one adapter together. `troubled`: something of it was not understood or not taken. */
type AdapterSums = ScanSums & { adapter: string; unhandled: Counts; troubled: boolean };

/**
 * Counts a submission in what `/diagnostics` shows: its day, the devices of each adapter, and the device itself. It is part
 * of the submission's own transaction, so that both are there or none is.
 */
export async function rollUp(tx: Queryable, submission: Submission, sender: Sender): Promise<void> {
  const userId = sender?.userId ?? null;
  const { deviceId, cliVersion, platform, arch } = submission;
  await tx.query(
    `insert into telemetry_device (user_id, device_id, machine, cli_version, platform, arch)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (user_id, device_id) do update set machine = coalesce(excluded.machine, telemetry_device.machine),
       cli_version = excluded.cli_version, platform = excluded.platform, arch = excluded.arch, seen_at = now()`,
    [userId, deviceId, sender?.machine ?? null, cliVersion, platform, arch],
  );
  const sums = sumUp(submission.diagnostics);
  if (sums.length === 0) return;
  await rollUpMachine(tx, userId, submission, sums);
  const known = await knownToday(tx, userId, cliVersion);
  const apart: AdapterSums[] = [];
  const beyond: AdapterSums[] = [];
  let room = bounds.combinationsPerDay - known.count;
  for (const one of sums) {
    if (known.adapters.has(one.adapter)) apart.push(one);
    else if (room-- > 0) apart.push(one);
    else beyond.push({ ...one, adapter: "" });
  }
  if (apart.length > 0) await rollUpDay(tx, userId, cliVersion, apart);
  if (beyond.length > 0) await rollUpDay(tx, userId, "", [...merged(beyond).values()]);
}

/** Sums by adapter, in the order of their names: all take their rows' locks in one order, and none waits in a circle. */
function sumUp(diagnostics: Submission["diagnostics"]): AdapterSums[] {
  const single = diagnostics.map((one) => ({
    adapter: one.adapter,
    scans: 1,
    entries: one.totalEntries,
    skipped: one.skippedEntries,
    invalid: one.invalidEntries,
    traces: one.traceCount,
    rejected: one.rejectedTraces,
    emptyParses: one.emptyParse ? 1 : 0,
    unhandled: countsOf(one.unhandledTypes),
    troubled: one.emptyParse || one.invalidEntries + one.rejectedTraces + one.unhandledTypes.length > 0,
  }));
  return [...merged(single).values()].sort((a, b) => (a.adapter < b.adapter ? -1 : 1));
}

/** Counts by any text. Made without a prototype: `__proto__` is a name like every other. */
type Counts = Record<string, number>;

/** Each type once, however often it stands there. */
function countsOf(types: string[]): Counts {
  const counts: Counts = Object.create(null);
  for (const type of new Set(types)) countType(counts, type, 1);
  return counts;
}

/** Counts a type, under the empty name where there are as many others as are counted apart. */
function countType(counts: Counts, type: string, count: number): void {
  const name = type in counts || Object.keys(counts).length < bounds.typesPerDay ? type : "";
  counts[name] = plus(counts[name] ?? 0, count);
}

function merged(sums: AdapterSums[]): Map<string, AdapterSums> {
  const found = new Map<string, AdapterSums>();
  for (const one of sums) {
    const before = found.get(one.adapter);
    found.set(one.adapter, before ? added(before, one) : one);
  }
  return found;
}

const plus = (a: number, b: number) => Math.min(max, a + b);

function added(a: AdapterSums, b: AdapterSums): AdapterSums {
  const unhandled: Counts = Object.assign(Object.create(null), a.unhandled);
  for (const [type, count] of Object.entries(b.unhandled)) countType(unhandled, type, count);
  return {
    adapter: a.adapter,
    scans: plus(a.scans, b.scans),
    entries: plus(a.entries, b.entries),
    skipped: plus(a.skipped, b.skipped),
    invalid: plus(a.invalid, b.invalid),
    traces: plus(a.traces, b.traces),
    rejected: plus(a.rejected, b.rejected),
    emptyParses: plus(a.emptyParses, b.emptyParses),
    unhandled,
    troubled: a.troubled || b.troubled,
  };
}

async function rollUpMachine(
  tx: Queryable,
  userId: string | null,
  { deviceId, cliVersion }: Submission,
  sums: AdapterSums[],
): Promise<void> {
  await tx.query(
    `insert into diagnostic_machine (user_id, adapter, cli_version, device_id, troubled)
     select $1, adapter, $2, $3, troubled from unnest($4::text[], $5::int[]) as sums (adapter, troubled)
     on conflict (adapter, cli_version, user_id, device_id) do update
       set troubled = diagnostic_machine.troubled + excluded.troubled, seen_at = now()`,
    [userId, cliVersion, deviceId, sums.map(({ adapter }) => adapter), sums.map(({ troubled }) => Number(troubled))],
  );
}

/** How many combinations of adapter and version the day has, and which adapters of this version. */
async function knownToday(
  tx: Queryable,
  userId: string | null,
  cliVersion: string,
): Promise<{ count: number; adapters: Set<string> }> {
  const { rows } = await tx.query<{ count: number; adapters: string[] }>(
    `select count(*)::int as count, coalesce(array_agg(adapter) filter (where cli_version = $2), '{}') as adapters
     from diagnostic_day where user_id is not distinct from $1::uuid and day = (now() at time zone 'UTC')::date`,
    [userId, cliVersion],
  );
  return { count: rows[0]?.count ?? 0, adapters: new Set(rows[0]?.adapters) };
}

/** Counts of types as one: those that are there already, then new ones as long as there is room, the rest together. */
const mergedTypes = `(
  select jsonb_object_agg(type, least(${max}, total)) from (
    select case when rank <= ${bounds.typesPerDay} then type else '' end as type, sum(count) as total from (
      select type, count, dense_rank() over (order by known desc, type) as rank from (
        select key as type, value::numeric as count, diagnostic_day.unhandled ? key as known
          from jsonb_each_text(diagnostic_day.unhandled)
        union all
        select key, value::numeric, diagnostic_day.unhandled ? key from jsonb_each_text(excluded.unhandled)
      ) as both_days) as ranked group by 1) as summed)`;

const counters = ["scans", "entries", "skipped", "invalid", "traces", "rejected", "empty_parses"];

async function rollUpDay(tx: Queryable, userId: string | null, cliVersion: string, sums: AdapterSums[]): Promise<void> {
  const added = counters.map((name) => `${name} = least(${max}, diagnostic_day.${name} + excluded.${name})`);
  await tx.query(
    `insert into diagnostic_day (user_id, day, adapter, cli_version, ${counters}, unhandled)
     select $1, (now() at time zone 'UTC')::date, adapter, $2, ${counters}, unhandled
     from unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
       $10::bigint[], $11::jsonb[]) as sums (adapter, ${counters}, unhandled)
     on conflict (user_id, day, adapter, cli_version) do update
       set ${added}, unhandled = coalesce(${mergedTypes}, '{}'), seen_at = now()`,
    [
      userId,
      cliVersion,
      sums.map(({ adapter }) => adapter),
      sums.map(({ scans }) => scans),
      sums.map(({ entries }) => entries),
      sums.map(({ skipped }) => skipped),
      sums.map(({ invalid }) => invalid),
      sums.map(({ traces }) => traces),
      sums.map(({ rejected }) => rejected),
      sums.map(({ emptyParses }) => emptyParses),
      sums.map(({ unhandled }) => JSON.stringify(unhandled)),
    ],
  );
}

/** Removes devices that sent nothing for so many days. The days' counts stay. */
export async function purgeDevices(tx: Queryable, days: number): Promise<void> {
  for (const table of ["diagnostic_machine", "telemetry_device"]) {
    await tx.query(`delete from ${table} where seen_at < now() - make_interval(days => $1)`, [days]);
  }
}
