// SQL: one statement for all traces of a chunk.
import "server-only";
import type { PoolClient } from "pg";
import type { LedgerTrace } from "#lib/ledger/part";
import { titleRanks } from "#lib/transcript/titles/derive-title";

export type StoredDigest = { traceId: string; facts: Uint8Array };

export async function readDigests(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
): Promise<Map<string, { facts: Uint8Array; tools: string | null }>> {
  if (traceIds.length === 0) return new Map();
  const { rows } = await tx.query<{ id: string; facts: Uint8Array; tools: string | null }>(
    `select trace.id, facts, tools from trace_digest digest
     join trace on trace.user_id = $1 and trace.id = digest.trace_id
     where digest.user_id = $1 and digest.trace_id = any($2::uuid[])`,
    [userId, traceIds],
  );
  return new Map(rows.map(({ id, ...digest }) => [id, digest]));
}

export async function writeDigests(tx: PoolClient, userId: string, digests: StoredDigest[]): Promise<void> {
  await tx.query(
    `insert into trace_digest (user_id, trace_id, facts)
     select $1::uuid, given.* from unnest($2::uuid[], $3::bytea[]) as given (trace_id, facts)
     on conflict (user_id, trace_id) do update set facts = excluded.facts`,
    [userId, digests.map(({ traceId }) => traceId), digests.map(({ facts }) => facts)],
  );
}

export async function deleteDigests(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query("delete from trace_digest where user_id = $1 and trace_id = any($2::uuid[])", [userId, traceIds]);
}

/** Lists each subject of the commits that the trace itself made once, two at most. */
export async function readCommitSubjects(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
): Promise<Map<string, string[]>> {
  const { rows } = await tx.query<{ id: string; subjects: string[] }>(
    `select trace_id as id, (array_agg(distinct coalesce(subject, '')))[1:2] as subjects from trace_commit
     where user_id = $1 and trace_id = any($2::uuid[]) and evidence = 'git-commit' and counted and not replayed
     group by trace_id`,
    [userId, traceIds],
  );
  return new Map(rows.map(({ id, subjects }) => [id, subjects]));
}

export async function findUntitled(tx: PoolClient, userId: string, traces: LedgerTrace[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    "select id from trace where user_id = $1 and id = any($2::uuid[]) and title_rank < $3",
    [userId, traces.map(({ id }) => id), titleRanks.sentence],
  );
  return new Set(rows.map(({ id }) => id));
}
