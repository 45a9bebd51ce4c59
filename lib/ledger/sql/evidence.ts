// SQL: Prisma can't join lists of values, and the job's transaction has its own connection.
import "server-only";
import type { PoolClient } from "pg";
import type { BranchRow, CommitRow, PullRequestRow } from "#lib/ledger/evidence/reading";

export type EvidenceRows = { branches: BranchRow[]; commits: CommitRow[]; pullRequests: PullRequestRow[] };

const tables = {
  branches: { table: "trace_branch", key: "branch", columns: { branch: "text", position: "int", evidence: "text" } },
  commits: {
    table: "trace_commit",
    key: "hash",
    columns: {
      hash: "text",
      repository: "text",
      branch: "text",
      subject: "text",
      position: "int",
      evidence: "text",
      replayed: "bool",
    },
  },
  pullRequests: {
    table: "trace_pull_request",
    key: "url",
    columns: {
      url: "text",
      repository: "text",
      number: "int",
      position: "int",
      evidence: "text",
      replayed: "bool",
      at: "timestamptz",
    },
  },
} as const;

type EvidenceKind = keyof typeof tables;
type EvidenceRow = Record<string, string | number | boolean | Date | null>;
const kinds = Object.keys(tables) as EvidenceKind[];

export type ChangedKeys = Record<EvidenceKind, string[]>;

export async function readEvidence(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
): Promise<Map<string, EvidenceRows>> {
  const found = new Map<string, EvidenceRows>();
  for (const kind of kinds) {
    const { table, columns } = tables[kind];
    const { rows } = await tx.query<EvidenceRow & { trace_id: string }>(
      `select trace_id, ${Object.keys(columns).join(", ")} from ${table} where user_id = $1 and trace_id = any($2)`,
      [userId, traceIds],
    );
    for (const { trace_id, ...row } of rows) {
      const own = found.get(trace_id) ?? { branches: [], commits: [], pullRequests: [] };
      (own[kind] as unknown[]).push(row);
      found.set(trace_id, own);
    }
  }
  return found;
}

/**
 * Writes only the differences.
 * @returns keys of changed rows
 */
export async function replaceEvidence(
  tx: PoolClient,
  userId: string,
  stored: Map<string, EvidenceRows>,
  wanted: Map<string, EvidenceRows>,
): Promise<ChangedKeys> {
  const changed: ChangedKeys = { branches: [], commits: [], pullRequests: [] };
  for (const kind of kinds) {
    const { table, key, columns } = tables[kind];
    const names = Object.keys(columns);
    const identity = (row: EvidenceRow) => JSON.stringify(names.map((name) => row[name]));
    const gone: [string, string][] = [];
    const added: { traceId: string; row: EvidenceRow }[] = [];
    for (const [traceId, rows] of wanted) {
      const getKey = (row: EvidenceRow) => String(row[key]);
      const before = new Map(
        ((stored.get(traceId)?.[kind] ?? []) as EvidenceRow[]).map((row) => [getKey(row), identity(row)]),
      );
      for (const row of rows[kind] as EvidenceRow[]) {
        if (before.get(getKey(row)) !== identity(row)) added.push({ traceId, row });
        before.delete(getKey(row));
      }
      for (const value of before.keys()) gone.push([traceId, value]);
    }
    if (gone.length > 0)
      await tx.query(
        `delete from ${table} where user_id = $1 and (trace_id, ${key}) in (select * from unnest($2::uuid[], $3::text[]))`,
        [userId, gone.map(([traceId]) => traceId), gone.map(([, value]) => value)],
      );
    if (added.length > 0)
      await tx.query(
        `insert into ${table} (user_id, trace_id, ${names.join(", ")})
         select $1::uuid, * from unnest($2::uuid[], ${Object.values(columns)
           .map((type, at) => `$${at + 3}::${type}[]`)
           .join(", ")})
         on conflict (user_id, trace_id, ${key}) do update
         set ${names
           .filter((name) => name !== key)
           .map((name) => `${name} = excluded.${name}`)
           .join(", ")}`,
        [userId, added.map(({ traceId }) => traceId), ...names.map((name) => added.map(({ row }) => row[name]))],
      );
    changed[kind] = [...gone.map(([, value]) => value), ...added.map(({ row }) => String(row[key]))];
  }
  return changed;
}

export async function deleteEvidence(tx: PoolClient, userId: string, traceIds: string[]): Promise<ChangedKeys> {
  const changed: ChangedKeys = { branches: [], commits: [], pullRequests: [] };
  for (const kind of kinds) {
    const { table, key } = tables[kind];
    const { rows } = await tx.query<{ key: string }>(
      `delete from ${table} where user_id = $1 and trace_id = any($2) returning ${key} as key`,
      [userId, traceIds],
    );
    changed[kind] = rows.map((row) => row.key);
  }
  return changed;
}
