import "server-only";
import { pool } from "#lib/db/client";
import { compareVersions, judge, sharesOf, type Verdict, type VersionHealth, worstOf } from "#lib/telemetry/health";

/** Whose telemetry is read: one's own devices', or everybody's with the anonymous ones, for the server's owner. */
export type Reader = { userId: string; seesAll: boolean };

/** The most that a page shows of each, whatever was sent. */
const max = {
  adapters: 50,
  versions: 5,
  types: 12,
  machines: 8,
  countedMachines: 1000,
  devices: 25,
  recentUploads: 300,
};
export const trendDays = 30;

export type Machine = { deviceId: string; machine: string | null; userName: string | null; seenAt: Date };

/** How one adapter does. `trend` is the worst share of each of the last 30 days, null where there was no scan. */
export type AdapterHealth = {
  adapter: string;
  versions: (VersionHealth & { troubledMachines: number })[];
  verdict: Verdict;
  types: { type: string; count: number }[];
  machines: Machine[];
  trend: (number | null)[];
};

const whose = ({ seesAll }: Reader) => (seesAll ? "$1::uuid is not null" : "user_id = $1");
const recent = `day > (now() at time zone 'UTC')::date - ${trendDays}`;

/** Whether any telemetry was sent in the days that the page looks at, or any device is known. */
export async function hasTelemetry(reader: Reader): Promise<boolean> {
  const { rowCount } = await pool().query(`select 1 from telemetry_device where ${whose(reader)} limit 1`, [
    reader.userId,
  ]);
  return rowCount === 1;
}

/** Every adapter of the last 30 days: what broke or got worse with its last CLI version first, then the worst. */
export async function listAdapters(reader: Reader): Promise<AdapterHealth[]> {
  const adapters = await readVersions(reader);
  const names = [...adapters.keys()];
  const latest = [...adapters].map(([adapter, [newest]]) => [adapter, newest?.cliVersion ?? ""] as const);
  const shown = [...adapters].flatMap(([adapter, versions]) =>
    versions.map(({ cliVersion }) => [adapter, cliVersion] as const),
  );
  const [trends, types, machines, counts] = await Promise.all([
    readTrends(reader, names),
    readTypes(reader, latest),
    readMachines(reader, latest),
    countMachines(reader, shown),
  ]);
  const found = [...adapters].map(([adapter, versions]): AdapterHealth => {
    const [newest, before] = versions as [VersionHealth, VersionHealth | undefined];
    return {
      adapter,
      versions: versions.map((version) => ({
        ...version,
        troubledMachines: counts.get(keyOf(adapter, version.cliVersion)) ?? 0,
      })),
      verdict: judge(newest, before),
      types: types.get(adapter) ?? [],
      machines: machines.get(adapter) ?? [],
      trend: trends.get(adapter) ?? [],
    };
  });
  return found.sort(worstFirst);
}

const ranks = { broke: 0, worse: 1, first: 2, same: 2, better: 2 } as const;

function worstFirst(a: AdapterHealth, b: AdapterHealth): number {
  const badness = ({ versions: [newest] }: AdapterHealth) => (newest ? worstOf(sharesOf(newest)) : 0);
  return (
    ranks[a.verdict.change] - ranks[b.verdict.change] || badness(b) - badness(a) || (a.adapter < b.adapter ? -1 : 1)
  );
}

/** A pair of texts as one key: neither holds U+0000 (lib/telemetry/schema.ts). */
const keyOf = (adapter: string, cliVersion: string) => `${adapter}\0${cliVersion}`;

/** The sums of each adapter's versions, newest version first; of very many adapters those with most scans. */
async function readVersions(reader: Reader): Promise<Map<string, VersionHealth[]>> {
  const { rows } = await pool().query<VersionHealth & { adapter: string }>(
    `with sums as (
       select adapter, cli_version, sum(scans) as scans, sum(entries) as entries, sum(skipped) as skipped,
         sum(invalid) as invalid, sum(traces) as traces, sum(rejected) as rejected, sum(empty_parses) as empty_parses,
         max(seen_at) as seen_at
       from diagnostic_day where ${whose(reader)} and ${recent} group by adapter, cli_version
     ), shown as (select adapter from sums group by adapter order by sum(scans) desc, adapter limit ${max.adapters})
     select adapter, cli_version as "cliVersion", scans::float8, entries::float8, skipped::float8, invalid::float8,
       traces::float8, rejected::float8, empty_parses::float8 as "emptyParses", seen_at as "seenAt"
     from sums join shown using (adapter)`,
    [reader.userId],
  );
  const found = new Map<string, VersionHealth[]>();
  for (const { adapter, ...version } of rows) {
    const versions = found.get(adapter);
    if (versions) versions.push(version);
    else found.set(adapter, [version]);
  }
  for (const [adapter, versions] of found) {
    const newestFirst = versions.sort((a, b) => compareVersions(b.cliVersion, a.cliVersion));
    found.set(adapter, newestFirst.slice(0, max.versions));
  }
  return found;
}

async function readTrends(reader: Reader, adapters: string[]): Promise<Map<string, (number | null)[]>> {
  type Day = VersionHealth & { adapter: string; daysAgo: number };
  const { rows } = await pool().query<Day>(
    `select adapter, (now() at time zone 'UTC')::date - day as "daysAgo", sum(scans)::float8 as scans,
       sum(entries)::float8 as entries, sum(skipped)::float8 as skipped, sum(invalid)::float8 as invalid,
       sum(traces)::float8 as traces, sum(rejected)::float8 as rejected, sum(empty_parses)::float8 as "emptyParses"
     from diagnostic_day where ${whose(reader)} and ${recent} and adapter = any($2) group by adapter, day`,
    [reader.userId, adapters],
  );
  const found = new Map(adapters.map((adapter) => [adapter, Array<number | null>(trendDays).fill(null)]));
  for (const { adapter, daysAgo, ...day } of rows) {
    const trend = found.get(adapter);
    if (trend && daysAgo >= 0) trend[trendDays - 1 - daysAgo] = worstOf(sharesOf(day));
  }
  return found;
}

type Pairs = (readonly [adapter: string, cliVersion: string])[];
const columns = (pairs: Pairs) => [pairs.map(([adapter]) => adapter), pairs.map(([, cliVersion]) => cliVersion)];

/** The types of entries that the adapters' newest versions did not handle, each with the scans that met it. */
async function readTypes(reader: Reader, pairs: Pairs): Promise<Map<string, { type: string; count: number }[]>> {
  const { rows } = await pool().query<{ adapter: string; type: string; count: number }>(
    `select adapter, type, count::float8 from (
       select adapter, type, sum(count::numeric) as count,
         row_number() over (partition by adapter order by type = '', sum(count::numeric) desc, type) as place
       from diagnostic_day join unnest($2::text[], $3::text[]) as latest (adapter, cli_version) using (adapter, cli_version),
         jsonb_each_text(unhandled) as types (type, count)
       where ${whose(reader)} and ${recent} group by adapter, type) as counted
     where place <= ${max.types} or type = '' order by adapter, place`,
    [reader.userId, ...columns(pairs)],
  );
  return grouped(rows);
}

/** The devices that last had trouble with the adapters' newest versions. */
async function readMachines(reader: Reader, pairs: Pairs): Promise<Map<string, Machine[]>> {
  const { rows } = await pool().query<Machine & { adapter: string }>(
    `select latest.adapter, found.device_id as "deviceId", device.machine, "user".name as "userName",
       found.seen_at as "seenAt"
     from unnest($2::text[], $3::text[]) as latest (adapter, cli_version) cross join lateral (
       select * from (
         select user_id, device_id, seen_at from diagnostic_machine
         where adapter = latest.adapter and cli_version = latest.cli_version and ${whose(reader)} and troubled > 0
         limit ${max.countedMachines}) as bounded
       order by seen_at desc limit ${max.machines}) as found
     left join telemetry_device device on device.device_id = found.device_id
       and device.user_id is not distinct from found.user_id
     left join "user" on "user".id = found.user_id
     order by found.seen_at desc`,
    [reader.userId, ...columns(pairs)],
  );
  return grouped(rows);
}

function grouped<T extends { adapter: string }>(rows: T[]): Map<string, Omit<T, "adapter">[]> {
  const found = new Map<string, Omit<T, "adapter">[]>();
  for (const { adapter, ...row } of rows) found.set(adapter, [...(found.get(adapter) ?? []), row]);
  return found;
}

/** How many devices had trouble with each version, counted to a thousand. */
async function countMachines(reader: Reader, pairs: Pairs): Promise<Map<string, number>> {
  const { rows } = await pool().query<{ adapter: string; cli_version: string; count: number }>(
    `select shown.adapter, shown.cli_version, counted.count from unnest($2::text[], $3::text[]) as shown (adapter, cli_version)
     cross join lateral (select count(*)::int as count from (
       select 1 from diagnostic_machine where adapter = shown.adapter and cli_version = shown.cli_version
         and ${whose(reader)} and troubled > 0 limit ${max.countedMachines}) as bounded) as counted`,
    [reader.userId, ...columns(pairs)],
  );
  return new Map(rows.map(({ adapter, cli_version, count }) => [keyOf(adapter, cli_version), count]));
}

export type Device = Machine & { cliVersion: string; platform: string; arch: string; lastUploadAt: Date | null };

/**
 * The devices that sent telemetry last, newest first. `lastUploadAt` is that of the machine whose token a device used, null
 * where it used none or has no upload among its account's latest.
 */
export async function listDevices(reader: Reader): Promise<{ devices: Device[]; hasMore: boolean }> {
  const { rows } = await pool().query<Device>(
    `with latest as (select * from telemetry_device where ${whose(reader)} order by seen_at desc limit ${max.devices + 1})
     select device_id as "deviceId", latest.machine, name as "userName", seen_at as "seenAt", cli_version as "cliVersion",
       platform, arch, (select max(created_at) from (
         select machine, created_at from ingest_job where ingest_job.user_id = latest.user_id
         order by id desc limit ${max.recentUploads}) as recent where recent.machine = latest.machine) as "lastUploadAt"
     from latest left join "user" on "user".id = latest.user_id order by seen_at desc`,
    [reader.userId],
  );
  return { devices: rows.slice(0, max.devices), hasMore: rows.length > max.devices };
}
