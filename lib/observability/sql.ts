// Heartbeats compare the database's clock with itself, so processes whose clocks differ still see each other.
import "server-only";
import { pool, transaction } from "#lib/db/client";
import type { SharedCount } from "#lib/generated/prisma/client";

/** Fails if the database does not answer. SQL: it reads no table. */
export async function pingDatabase(): Promise<void> {
  await pool().query("select 1");
}

export async function readTime(): Promise<Date> {
  const { rows } = await pool().query<{ now: Date }>("select clock_timestamp() as now");
  return rows[0]?.now ?? new Date();
}

type Role = "worker" | "turn";

export async function sendHeartbeat(id: string, role: Role = "worker"): Promise<void> {
  await pool().query(
    `insert into process_heartbeat (id, role) values ($1, $2) on conflict (id) do update set seen_at = now()`,
    [id, role],
  );
}

/** @param except an id not to count */
export async function countWorkers(seconds: number, except: string | null = null): Promise<number> {
  const { rows } = await pool().query<{ count: number }>(
    `select count(*)::int as count from process_heartbeat
     where role = 'worker' and seen_at > now() - make_interval(secs => $1) and id is distinct from $2`,
    [seconds, except],
  );
  return rows[0]?.count ?? 0;
}

/**
 * A turn is a row that heartbeats keep. One statement by the database's clock keeps two processes from taking the same one.
 * @returns its id; undefined if all are taken
 */
export async function takeTurn(ids: string[], seconds: number): Promise<string | undefined> {
  const { rows } = await pool().query<{ id: string }>(
    `insert into process_heartbeat (id, role)
     select given.id, 'turn' from unnest($1::uuid[]) as given (id) left join process_heartbeat as taken on taken.id = given.id
     where taken.id is null or taken.seen_at <= now() - make_interval(secs => $2)
     order by random() limit 1
     on conflict (id) do update set seen_at = now() where process_heartbeat.seen_at <= now() - make_interval(secs => $2)
     returning id`,
    [ids, seconds],
  );
  return rows[0]?.id;
}

export async function purgeHeartbeats(): Promise<void> {
  await pool().query("delete from process_heartbeat where seen_at < now() - interval '1 day'");
}

/** Counts jobs that wait or run, by status, up to `max`. SQL: a bounded roll-up over a partial index. */
export async function countOpenJobs(max: number): Promise<{ status: string; jobs: number; oldestSeconds: number }[]> {
  const { rows } = await pool().query<{ status: string; jobs: number; oldestSeconds: number }>(
    `select status, count(*)::int as jobs, extract(epoch from now() - min(created_at))::float8 as "oldestSeconds"
     from (select status, created_at from ingest_job
           where status <> 'succeeded' and status in ('queued', 'running') limit $1) as open
     group by status`,
    [max],
  );
  return rows;
}

/** Adds to shared counters in one upsert that waits neither for the disk nor, for more than a second, for a lock. */
export async function addToCounters(counts: SharedCount[]): Promise<void> {
  await transaction(
    async (tx) => {
      await tx.query(
        `insert into shared_count (name, labels, value) select * from unnest($1::text[], $2::text[], $3::float8[])
         on conflict (name, labels) do update set value = shared_count.value + excluded.value`,
        [counts.map(({ name }) => name), counts.map(({ labels }) => labels), counts.map(({ value }) => value)],
      );
    },
    { synchronous_commit: "off", lock_timeout: "1s" },
  );
}
