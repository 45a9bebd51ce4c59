// SQL: Prisma can't aggregate with columns of another table.
import "server-only";
import type { PoolClient } from "pg";
import { type Db, pool } from "#lib/db/client";
import type { FindingState, FindingsQuery } from "#lib/findings/schema";
import { Prisma } from "#lib/generated/prisma/client";

export type StoredFinding = {
  kind: string;
  mark: string;
  state: FindingState;
  traceId: string;
  title: string | null;
  project: string | null;
  projectId: string | null;
  positions: number[];
  count: number;
  at: Date;
  dated: boolean;
};

const dayMs = 86_400_000;
const maxPositions = 20;

export async function readFindings(
  tx: PoolClient,
  userId: string,
  { kind, state, mark, trace, project, days }: FindingsQuery,
  { after, limit }: { after: { at: string; id: string } | undefined; limit: number },
): Promise<StoredFinding[]> {
  const of = [
    Prisma.sql`finding.user_id = ${userId}::uuid and trace.user_id = ${userId}::uuid and trace.deleted_at is null`,
    ...(kind ? [Prisma.sql`kind = ${kind}`] : []),
    ...(mark ? [Prisma.sql`mark = ${mark}`] : []),
    ...(state ? [Prisma.sql`state = ${state}`] : []),
    ...(trace ? [Prisma.sql`trace_id = ${trace}::uuid`] : []),
    ...(project ? [Prisma.sql`trace.project_id = ${project}::uuid`] : []),
    ...(days ? [Prisma.sql`dated and at >= ${new Date(Date.now() - days * dayMs)}::timestamptz`] : []),
  ];
  const id = Prisma.sql`kind || ' ' || mark || ' ' || trace_id::text || ' ' || state`;
  const { rows } = await tx.query<StoredFinding>(Prisma.sql`
    select kind, mark, state, trace_id as "traceId", coalesce(custom_title, short_title, title, derived_title) as title, project,
      project_id as "projectId",
      (array_agg(position order by position))[1:${maxPositions}] as positions, count(*)::int as count, max(at) as at, dated
    from finding join trace on trace.user_id = finding.user_id and trace.id = trace_id
    where ${Prisma.join(of, " and ")}
    group by kind, mark, state, trace_id, custom_title, short_title, title, derived_title, project, project_id, dated
    having ${after ? Prisma.sql`(max(at), ${id}) < (${after.at}::timestamptz, ${after.id})` : Prisma.sql`true`}
    order by max(at) desc, ${id} desc limit ${limit}`);
  return rows;
}

/** A secret in several places counts once. */
export async function countFindings(
  userId: string,
): Promise<{ kind: string; state: FindingState; secrets: number; traces: number }[]> {
  const { rows } = await pool().query(
    `select kind, state, count(distinct mark)::int as secrets, count(distinct trace_id)::int as traces
     from finding where user_id = $1 group by kind, state order by kind, state`,
    [userId],
  );
  return rows;
}

/** Counts up to `max`. SQL: distinct marks. */
export async function countOpen(
  userId: string,
  certain: string[],
  max: number,
): Promise<{ certain: number; possible: number }> {
  const { rows } = await pool().query(
    `select count(*) filter (where is_certain)::int as certain, count(*) filter (where not is_certain)::int as possible from (
       select distinct kind = any($2) as is_certain, kind, mark from finding where user_id = $1 and state = 'open' limit $3) as open`,
    [userId, certain, max],
  );
  return rows[0];
}

/** In all traces without `traceId`. */
type Ruled = { userId: string; kind: string; mark: string; traceId: string | undefined };

/**
 * A worker that masks by an earlier decision must not end the task, so a decision gets a later time than the previous
 * one. The time zone is explicit because a distributed database allows only immutable expressions here.
 */
const decidedAnew = Prisma.sql`on conflict (user_id, trace_id) do update set created_at = greatest(excluded.created_at,
      (masking_task.created_at at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC')`;

export async function beginMasking(tx: Db, { userId, kind, mark, traceId }: Ruled): Promise<number> {
  const here = traceId ? Prisma.sql`and trace_id = ${traceId}::uuid` : Prisma.empty;
  return tx.$executeRaw`
    with ruled as (
      update finding set state = 'masking' where user_id = ${userId}::uuid and kind = ${kind} and mark = ${mark}
        and state in ('open', 'kept') ${here} returning trace_id)
    insert into masking_task (user_id, trace_id, created_at)
    select distinct ${userId}::uuid, trace_id, ${new Date()}::timestamptz from ruled
    ${decidedAnew}`;
}

export async function beginMaskingKinds(tx: Db, userId: string, kinds: string[]): Promise<number> {
  return tx.$executeRaw`
    with ruled as (
      update finding set state = 'masking' where user_id = ${userId}::uuid and kind = any(${kinds}::text[]) and state = 'open'
      returning trace_id)
    insert into masking_task (user_id, trace_id, created_at)
    select distinct ${userId}::uuid, trace_id, ${new Date()}::timestamptz from ruled
    ${decidedAnew}`;
}
