// SQL: look-ups by lists of keys; rows are locked in the order in which uploads lock them.
import "server-only";
import type { PoolClient } from "pg";
import { maxDepth, type Named, type Relation, type Relative } from "#lib/ledger/kinship";

export type StoredRelative = Relative & {
  parentId: string | null;
  parentPosition: number | null;
  continuedIn: string | null;
  /** Latest activity of the trace and everything below it; null if undated. */
  latestAt: Date | null;
};

type RelativeRow = Omit<StoredRelative, "named"> & { parentSourceId: string | null; parentRelation: string | null };

const columns = `trace.id, trace.source, trace.source_id as "sourceId", trace.parent_source_id as "parentSourceId",
  trace.parent_relation as "parentRelation", trace.parent_id as "parentId", trace.parent_position as "parentPosition",
  trace.continued_in as "continuedIn", greatest(case when trace.dated then trace.activity_at end, trace.children_at) as "latestAt"`;

function toRelative({ parentSourceId, parentRelation, ...rest }: RelativeRow): StoredRelative {
  const named: Named | undefined =
    parentSourceId === null ? undefined : { sourceId: parentSourceId, relation: parentRelation as Relation };
  return { ...rest, named };
}

type SourceKey = { source: string; sourceId: string };
const toKeyColumns = (keys: SourceKey[]) => [keys.map(({ source }) => source), keys.map(({ sourceId }) => sourceId)];

export async function readRelatives(tx: PoolClient, userId: string, ids: string[]): Promise<StoredRelative[]> {
  const { rows } = await tx.query<RelativeRow>(
    `select ${columns} from trace where user_id = $1 and id = any($2) and deleted_at is null`,
    [userId, ids],
  );
  return rows.map(toRelative);
}

export async function findByKey(tx: PoolClient, userId: string, keys: SourceKey[]): Promise<StoredRelative[]> {
  if (keys.length === 0) return [];
  const { rows } = await tx.query<RelativeRow>(
    `select found.* from unnest($2::text[], $3::text[]) as given (source, source_id) cross join lateral (
       select ${columns} from trace where trace.user_id = $1 and trace.source = given.source
         and trace.source_id = given.source_id and deleted_at is null) as found`,
    [userId, ...toKeyColumns(keys)],
  );
  return rows.map(toRelative);
}

/** The lowest id wins among several. */
export async function findContinued(tx: PoolClient, userId: string, keys: SourceKey[]): Promise<StoredRelative[]> {
  if (keys.length === 0) return [];
  const { rows } = await tx.query<RelativeRow>(
    `select found.* from unnest($2::text[], $3::text[]) as given (source, source_id) cross join lateral (
       select ${columns} from trace where trace.user_id = $1 and trace.source = given.source
         and trace.continued_in = given.source_id and deleted_at is null order by id limit 1) as found`,
    [userId, ...toKeyColumns(keys)],
  );
  return rows.map(toRelative);
}

export async function findAwaiting(tx: PoolClient, userId: string, keys: SourceKey[]): Promise<StoredRelative[]> {
  const { rows } = await tx.query<RelativeRow>(
    `select found.* from unnest($2::text[], $3::text[]) as given (source, source_id) cross join lateral (
       select ${columns} from trace where trace.user_id = $1 and trace.source = given.source
         and trace.parent_source_id = given.source_id and parent_id is null and deleted_at is null) as found`,
    [userId, ...toKeyColumns(keys)],
  );
  return rows.map(toRelative);
}

export async function findMoved(
  tx: PoolClient,
  userId: string,
  parents: { id: string; from: number }[],
  named: string[],
): Promise<StoredRelative[]> {
  const { rows } = await tx.query<RelativeRow>(
    `select ${columns} from unnest($2::uuid[], $3::int[]) as given (id, start)
     join trace on trace.user_id = $1 and trace.parent_id = given.id
     where trace.deleted_at is null and (trace.parent_position >= given.start or trace.source_id = any($4))`,
    [userId, parents.map(({ id }) => id), parents.map(({ from }) => from), named],
  );
  return rows.map(toRelative);
}

export async function findStarts(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
): Promise<Map<string, Map<string, number>>> {
  const starts = new Map(traceIds.map((id) => [id, new Map<string, number>()]));
  if (traceIds.length === 0) return starts;
  const { rows } = await tx.query<{ id: string; session: string; position: number }>(
    `select trace_id as id, metadata #>> '{result,session}' as session, min(position) as position from message
     where user_id = $1 and trace_id = any($2) and metadata #>> '{result,session}' is not null
     group by 1, 2`,
    [userId, traceIds],
  );
  for (const { id, session, position } of rows) starts.get(id)?.set(session, position);
  return starts;
}

export async function readLatestBelow(tx: PoolClient, userId: string, ids: string[]): Promise<Map<string, Date>> {
  const { rows } = await tx.query<{ id: string; at: Date }>(
    `select parent_id as id, max(greatest(case when dated then activity_at end, children_at)) as at from trace
     where user_id = $1 and parent_id = any($2) and deleted_at is null group by parent_id
     having count(*) filter (where dated or children_at is not null) > 0`,
    [userId, ids],
  );
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/** Skips rows locked by others: an upload's trace is read again, and later activity raises the rest. */
export async function raiseLatest(tx: PoolClient, userId: string, latest: Map<string, Date>): Promise<void> {
  if (latest.size === 0) return;
  await tx.query(
    `update trace set children_at = raised.at from (
       select trace.id, given.at from unnest($2::uuid[], $3::timestamptz[]) as given (id, at)
       join trace on trace.user_id = $1 and trace.id = given.id and deleted_at is null
         and (trace.children_at is null or trace.children_at < given.at)
       for no key update of trace skip locked) as raised
     where trace.user_id = $1 and trace.id = raised.id`,
    [userId, [...latest.keys()], [...latest.values()]],
  );
}

/** The latest activity below a trace, and of the trace with all below it. */
export type LatestActivity = { below: Date | null; latest: Date | null };

/** Computes the latest activity of former parents and of all their ancestors as if some traces were not below them. */
export async function readLatestWithout(
  tx: PoolClient,
  userId: string,
  parents: string[],
  moved: string[],
): Promise<Map<string, LatestActivity>> {
  if (parents.length === 0) return new Map();
  const { rows } = await tx.query<LatestActivity & { id: string }>(
    `with recursive ancestor (id, depth) as (
       select id, 0 from unnest($2::uuid[]) as given (id)
       union select trace.parent_id, ancestor.depth + 1 from ancestor
         join trace on trace.user_id = $1 and trace.id = ancestor.id
         where trace.parent_id is not null and ancestor.depth < $4
     ), below (ancestor, id, depth) as (
       select distinct ancestor.id, ancestor.id, 0 from ancestor
       union select below.ancestor, trace.id, below.depth + 1 from below
         join trace on trace.user_id = $1 and trace.parent_id = below.id
         where trace.deleted_at is null and trace.id <> all($3::uuid[]) and below.depth < $4
     )
     select below.ancestor as id, max(trace.activity_at) filter (where trace.dated and below.depth > 0) as below,
       max(trace.activity_at) filter (where trace.dated) as latest
     from below join trace on trace.user_id = $1 and trace.id = below.id group by 1`,
    [userId, parents, moved, maxDepth],
  );
  return new Map(rows.map(({ id, ...latest }) => [id, latest]));
}

export async function findChildren(tx: PoolClient, userId: string, ids: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    "select id from trace where user_id = $1 and parent_id = any($2) and deleted_at is null",
    [userId, ids],
  );
  return rows.map(({ id }) => id);
}

export async function clearDeleted(tx: PoolClient, userId: string, ids: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select distinct parent.id from trace child join trace parent on parent.user_id = $1 and parent.id = child.parent_id
     where child.user_id = $1 and child.id = any($2) and parent.deleted_at is null`,
    [userId, ids],
  );
  await tx.query(
    `update trace set parent_source_id = null, parent_relation = null, parent_id = null, parent_position = null,
       continued_in = null, children_at = null
     where user_id = $1 and id = any($2) and deleted_at is not null`,
    [userId, ids],
  );
  return rows.map(({ id }) => id);
}
