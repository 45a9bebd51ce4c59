// SQL: locks that never wait, and one statement for all traces of a chunk.
import "server-only";
import type { PoolClient } from "pg";
import type { Queryable } from "#lib/db/client";
import type { LedgerTrace } from "#lib/ledger/part";

/** `version` changes with each upload, with masking, and with deletion. */
export type DueTrace = {
  id: string;
  version: string;
  isDeleted: boolean;
  messageCount: number;
  /** Null in traces of earlier versions. */
  storedBytes: number | null;
  metadataBytes: number;
  accountedTo: number;
  accountedVersion: number;
};

/** Ignores writes that don't change stored content, such as the search index's mark. */
const version = "concat(trace.upload_sequence, trace.deleted_at, trace.content_hash)";

/** Shared with the previous release, so that only one process accounts at a time. */
const lockNumber = 5_620_260_001;

export async function tryLedgerLock(tx: PoolClient): Promise<boolean> {
  const { rows } = await tx.query<{ mine: boolean }>("select pg_try_advisory_xact_lock($1) as mine", [lockNumber]);
  return rows[0]?.mine === true;
}

export async function takeLedgerLock(tx: PoolClient): Promise<void> {
  await tx.query("select 1 from (select pg_advisory_xact_lock($1)) as waited", [lockNumber]);
}

export async function findNextUser(
  from: Queryable,
  after: string,
  settledSeconds: number,
): Promise<string | undefined> {
  const { rows } = await from.query<{ userId: string }>(
    `select user_id as "userId" from trace
     where ledger_due and user_id > $1 and stored_at <= now() - make_interval(secs => $2) order by user_id limit 1`,
    [after, settledSeconds],
  );
  return rows[0]?.userId;
}

const sortedAtOnce = 20_000;

/** Latest first, so that traces of the same days share one roll-up. */
export async function findDueTraces(
  tx: PoolClient,
  userId: string,
  { settledSeconds, limit, except }: { settledSeconds: number; limit: number; except: string[] },
): Promise<DueTrace[]> {
  const { rows } = await tx.query<DueTrace>(
    `select id, ${version} as version, deleted_at is not null as "isDeleted", message_count as "messageCount",
       stored_bytes as "storedBytes", coalesce(pg_column_size(metadata), 0) as "metadataBytes",
       accounted_to as "accountedTo", accounted_version as "accountedVersion"
     from (
       select * from trace where user_id = $1 and ledger_due and stored_at <= now() - make_interval(secs => $2)
         and id <> all($4::uuid[]) order by id desc limit $5
     ) as trace order by activity_at desc, id limit $3`,
    [userId, settledSeconds, limit, except, sortedAtOnce],
  );
  return rows;
}

export async function readTraces(tx: PoolClient, userId: string, ids: string[]): Promise<LedgerTrace[]> {
  const { rows } = await tx.query<LedgerTrace>(
    `select user_id as "userId", id, source, source_id as "sourceId", model, title,
       derived_title as "derivedTitle", project, machine, created_at as "createdAt", activity_at as "activityAt", stored_at as "storedAt", metadata, project_id as "projectId"
     from trace where user_id = $1 and id = any($2) and deleted_at is null order by created_at, id`,
    [userId, ids],
  );
  return rows;
}

/** @returns the traces that are unchanged and free of uploads, now locked */
export async function lockUnchanged(tx: PoolClient, userId: string, due: DueTrace[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select trace.id from unnest($2::uuid[], $3::text[]) as due (id, version)
     join trace on trace.user_id = $1::uuid and trace.id = due.id and ${version} = due.version
     order by trace.id for no key update of trace skip locked`,
    [userId, due.map(({ id }) => id), due.map((one) => one.version)],
  );
  return new Set(rows.map(({ id }) => id));
}

export async function lockOthers(tx: PoolClient, userId: string, ids: string[]): Promise<boolean> {
  if (ids.length === 0) return true;
  const { rows: there } = await tx.query(
    "select id from trace where user_id = $1 and id = any($2::uuid[]) and deleted_at is null",
    [userId, ids],
  );
  const { rows: locked } = await tx.query(
    `select id from trace where user_id = $1 and id = any($2::uuid[]) and deleted_at is null
     order by id for no key update skip locked`,
    [userId, ids],
  );
  return locked.length === there.length;
}

export type ColumnValues = { name: string; type: string; values: unknown[] };

/** @param columns names from this folder only, which can't be bound */
export async function setColumns(
  tx: PoolClient,
  userId: string,
  ids: string[],
  columns: ColumnValues[],
): Promise<void> {
  if (ids.length === 0 || columns.length === 0) return;
  const set = columns.map(({ name }) => `${name} = given.${name}`).join(", ");
  const given = columns.map(({ type }, at) => `$${at + 3}::${type}[]`).join(", ");
  await tx.query(
    `update trace set ${set} from unnest($2::uuid[], ${given}) as given (id, ${columns.map(({ name }) => name).join(", ")})
     where trace.user_id = $1::uuid and trace.id = given.id`,
    [userId, ids, ...columns.map(({ values }) => values)],
  );
}

export async function clearLinks(tx: PoolClient, userId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `update trace set parent_source_id = null, parent_relation = null, parent_id = null, parent_position = null,
       continued_in = null, children_at = null, project_id = null
     where user_id = $1 and id = any($2)`,
    [userId, ids],
  );
}
