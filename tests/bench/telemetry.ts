// `npm run bench:telemetry [-- SUBMISSIONS]`: what `/diagnostics` reads with a million submissions stored, and what counting
// costs a submission. On a separate PostgreSQL in a temporary folder.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setEnv } from "#lib/core/env";
import { closeDatabase, pool, prisma } from "#lib/db/client";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { migrate } from "#lib/db/migrate";
import { installQueues } from "#lib/queue/queues";
import { type DiagnosticsReader, hasTelemetry, listAdapters, listDevices } from "#lib/telemetry/diagnostics";
import { recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { insertReport } from "#lib/telemetry/sql";

const submissions = Number(process.argv[2] ?? 1_000_000);
const maxPageMs = 100;

/** 2,000 devices of 50 users or anonymous, over 90 days, 12 CLI versions, 8 adapters, two in each submission. */
async function fill(): Promise<void> {
  await pool().query(
    `insert into "user" (name, email, role) select 'user ' || n, n || '@example.org', case n when 1 then 'owner' else 'member' end
     from generate_series(1, 50) as n`,
  );
  await pool().query(
    `insert into telemetry_report (user_id, schema, device_id, cli_version, platform, arch, command, received_at)
     select (select array_agg(id order by email) from "user")[(device % 60)::int], 1, 'device-' || device, '1.4.' || (n * 12 / $1::bigint),
       'linux', 'x64', 'scan', now() - (1 - n::float8 / $1::bigint) * interval '90 days'
     from (select n, (n * 7919) % 2000 as device from generate_series(0, $1::bigint - 1) as n) as made`,
    [submissions],
  );
  await pool().query(
    `insert into diagnostic (report_id, position, adapter, total_entries, skipped_entries, invalid_entries, event_count,
       trace_count, rejected_traces, unhandled_types, empty_parse)
     select id, position, 'adapter-' || ((hashtext(device_id) + position) & 7), 1000, 3, 1, 1000, 10, 0,
       array['type-' || (hashtext(id::text) & 31)], false
     from telemetry_report, generate_series(0, 1) as position`,
  );
  await pool().query(
    `insert into diagnostic_day (user_id, day, adapter, cli_version, scans, entries, skipped, invalid, traces, rejected,
       empty_parses, unhandled)
     select user_id, received_at::date, adapter, cli_version, count(*), sum(total_entries), sum(skipped_entries),
       sum(invalid_entries), sum(trace_count), 0, 0, jsonb_object_agg(unhandled_types[1], 1)
     from telemetry_report join diagnostic on report_id = id group by 1, 2, 3, 4`,
  );
  await pool().query(
    `insert into diagnostic_machine (user_id, adapter, cli_version, device_id, troubled)
     select user_id, adapter, cli_version, device_id, count(*)
     from telemetry_report join diagnostic on report_id = id group by 1, 2, 3, 4`,
  );
  await pool().query(
    `insert into telemetry_device (user_id, device_id, cli_version, platform, arch)
     select user_id, device_id, max(cli_version), 'linux', 'x64' from telemetry_report group by 1, 2`,
  );
  await pool().query("analyze");
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Runs the page's queries. @returns the median of 15 times, in milliseconds */
async function page(reader: DiagnosticsReader): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 16; n += 1) {
    const startedAt = performance.now();
    await hasTelemetry(reader);
    await Promise.all([listAdapters(reader), listDevices(reader)]);
    if (n > 0) times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** @returns how many calls a second end, 16 at a time */
async function rate(calls: number, call: (n: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  const loop = async () => {
    while (next < calls) await call(next++);
  };
  await Promise.all(Array.from({ length: 16 }, loop));
  return (calls / (performance.now() - startedAt)) * 1000;
}

const submission = (n: number) =>
  telemetryRequest.parse({
    schema: 1,
    deviceId: `device-${n % 50}`,
    cliVersion: "2.0.0",
    platform: "linux",
    arch: "x64",
    command: "scan",
    diagnostics: ["a", "b", "c"].map((adapter) => ({ adapter, totalEntries: 100, unhandledTypes: ["x", "y"] })),
  });

const folder = await mkdtemp(join(tmpdir(), "spoor-telemetry-"));
const database = await startEmbedded(folder);
let met = false;
try {
  setEnv({
    DATABASE_URL: database.url,
    LOG_LEVEL: "fatal",
    TELEMETRY_SINK: "",
    TELEMETRY_SINK_URL: "",
    TELEMETRY_SINK_KEY: "",
  });
  await migrate(database.url, () => installQueues(database.url));
  await fill();
  const { rows } = await pool().query<{ id: string; role: string }>(
    `select id, role from "user" order by email limit 2`,
  );
  const [owner, member] = rows.map(({ id, role }) => ({ userId: id, seesAll: role === "owner" }));
  if (!owner || !member) throw new Error("there are no users");
  const [ownersMs, membersMs] = [await page(owner), await page(member)];
  met = ownersMs < maxPageMs && membersMs < maxPageMs;
  console.log(
    `${submissions} submissions: the owner's page ${ownersMs.toFixed(1)} ms, a member's ${membersMs.toFixed(1)} ms`,
  );
  const stored = await rate(2000, (n) => prisma().$transaction((tx) => insertReport(tx, submission(n), null)));
  const anonymous = await rate(2000, (n) => recordTelemetry(submission(n), undefined));
  const users = await pool().query<{ id: string }>(`select id from "user"`);
  const spread = await rate(2000, (n) =>
    recordTelemetry(submission(n), { userId: users.rows[n % 50]?.id ?? "", machine: "laptop" }),
  );
  console.log(
    `submissions a second, 16 at a time: ${stored.toFixed(0)} without counting, ${spread.toFixed(0)} counted for 50 users, ${anonymous.toFixed(0)} counted as anonymous`,
  );
} finally {
  await closeDatabase();
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(met ? 0 : 1);
