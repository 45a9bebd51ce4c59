import { describe, expect, test } from "vitest";
import { findRefusal } from "../../growth/rules.ts";

/** Statements that Citus refused, most of them in an earlier version of Spoor, with a word of the reason. */
const refused: [reason: string, sql: string][] = [
  ["clock_timestamp", "update ingest_job set finished_at = clock_timestamp() where user_id = $1 and id = $2"],
  ["default", "update ingest_job set sequence = default where user_id = $1 and id = $2"],
  ["nextval", "update ingest_job set sequence = nextval('s') where user_id = $1 and id = $2"],
  ["COALESCE", "update ingest_job set started_at = coalesce(started_at, now()) where user_id = $1 and id = $2"],
  ["COALESCE", "update trace set stored_at = case when usage_due then now() end where user_id = $1 and id = $2"],
  [
    "both the time and a column",
    "update trace set title = left(title, extract(day from now())::int) where user_id = $1",
  ],
  ["depends on settings", "update ingest_job set error_message = concat(error_message, $2) where user_id = $1"],
  ["an interval", "update upload set removed_at = removed_at - interval '1 day' where user_id = $1"],
  [
    "COALESCE",
    `insert into trace_usage (user_id, trace_id) values ($1, $2)
     on conflict (user_id, trace_id) do update set day = coalesce(excluded.day, current_date)`,
  ],
  [
    "on the coordinator",
    `select id from ingest_job where status = 'queued' and not exists (
       select 1 from pgboss.job where data ->> 'jobId' = ingest_job.id::text)`,
  ],
  [
    "on the coordinator",
    `delete from trace_share share using trace where trace.user_id = share.user_id and trace.id = share.trace_id`,
  ],
  ["are locked", "select id from trace where deleted_at is not null limit $1 for update skip locked"],
  [
    "are locked",
    `update trace set usage_due = false from (
       select trace.user_id, trace.id from unnest($1::uuid[]) as due (id) join trace on trace.id = due.id
       for no key update of trace skip locked) as done
     where trace.user_id = done.user_id and trace.id = done.id`,
  ],
  ["not by user_id", "select 1 from trace join message on message.trace_id = trace.id where trace.user_id = $1"],
  ["setting of the session", "copy (select body from upload where user_id = current_setting('a.b')::uuid) to stdout"],
  [
    "several users",
    `update upload set removed_at = $1 where exists (select 1 from ingest_job t0
       where (upload.user_id, upload.job_id) = (t0.user_id, t0.id) and t0.finished_at < $2)`,
  ],
  [
    "several users",
    `delete from usage_facets where not exists (select 1 from trace_usage
       where trace_usage.user_id = usage_facets.user_id and trace_usage.facets = usage_facets.facets)`,
  ],
  [
    "several users",
    `with stale as (select user_id, id from ingest_job) update ingest_job job set written_trace_ids = '{}' from stale
       where job.user_id = stale.user_id and job.id = stale.id`,
  ],
  [
    "NOWAIT",
    `with settings as (select set_config('lock_timeout', $3, true)) update ingest_job set status = 'running' from settings
       where user_id = $1 and id = $2`,
  ],
  ["RETURNING", "delete from message where user_id = $1 returning pg_column_size(content)"],
  ["RETURNING", "delete from message_usage where user_id = $1 returning (at at time zone 'UTC')::date::text as day"],
  [
    "jsonb_build_array",
    `update trace_usage set facets = hashtextextended(jsonb_build_array(given.source)::text, 0)
       from unnest($2::uuid[], $3::text[]) as given (id, source) where user_id = $1 and trace_id = given.id`,
  ],
  ["within a WITH", "with gone as (delete from upload where job_id = $1 returning 1) select count(*) from gone"],
];

const allowed = [
  `select j.id from ingest_job j left join upload as j0 on (j0.user_id, j0.job_id) = (j.user_id, j.id)
     where j.user_id = $1 and j0.removed_at is null limit $2`,
  `update upload set removed_at = $1 where user_id = $3 and exists (select 1 from ingest_job t0
     where (upload.user_id, upload.job_id) = (t0.user_id, t0.id) and t0.finished_at < $2)`,
  `update ingest_job job set idempotency_key = null from unnest($1::uuid[], $2::text[]) as given (user_id, key)
     where job.user_id = given.user_id and job.idempotency_key = given.key`,
  "update ingest_job set started_at = least(started_at, now()) where user_id = $1 and id = $2",
  "select status, count(*) from ingest_job where status <> 'succeeded' group by status",
  "select id from trace where user_id = $1 and deleted_at is not null limit $2 for update skip locked",
  "select 1 from trace join message on message.user_id = $1 and message.trace_id = trace.id where trace.user_id = $1",
  `delete from usage_facets where user_id = $1 and not exists (select 1 from trace_usage
     where trace_usage.user_id = $1 and trace_usage.facets = usage_facets.facets)`,
  "update cli_token set last_used_at = coalesce(last_used_at, now())",
  "copy message (user_id) from stdin (format binary)",
  "begin; set local lock_timeout = '1s'; select 'trace'",
];

describe("the rules of a distributed database", () => {
  test.each(refused)("refuse a statement: %s", (reason, sql) => {
    expect(findRefusal(sql)).toContain(reason);
  });

  test.each(allowed)("allow %s", (sql) => {
    expect(findRefusal(sql)).toBeUndefined();
  });
});
