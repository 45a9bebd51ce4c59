// SQL: one statement for many traces.
import "server-only";
import type { PoolClient } from "pg";
import { eachInSlices } from "#lib/core/concurrency/slices";
import { lockFindings } from "#lib/db/sql/run";
import type { Trace } from "#lib/generated/prisma/client";
import { everywhere } from "#lib/masking/policy";

/** `position` is -1 in the trace's own fields. */
export type FoundSecret = { position: number; at: Date | null; kind: string; mark: string; masked: boolean };

type TraceSecrets = { traceId: string; from: number; at: Date; found: FoundSecret[] };
type OwnFields = Pick<Trace, "title" | "project"> & { metadata: Record<string, unknown> | null };

/**
 * If an upload stored a secret while its user decided to mask it, a task masks it later.
 *
 * @param inFields findings in a trace's own fields
 */
export async function replaceFindings(
  tx: PoolClient,
  userId: string,
  traces: TraceSecrets[],
  inFields: (fields: OwnFields) => FoundSecret[],
): Promise<void> {
  const ids = traces.map(({ traceId }) => traceId);
  await lockFindings(tx, userId);
  await tx.query(
    `delete from finding using unnest($2::uuid[], $3::int[]) as seen (id, first)
     where user_id = $1 and trace_id = seen.id and (position >= seen.first or position = -1)`,
    [userId, ids, traces.map(({ from }) => from)],
  );
  const { rows: fields } = await tx.query<OwnFields & { id: string }>(
    "select id, title, project, metadata from trace where user_id = $1 and id = any($2::uuid[])",
    [userId, ids],
  );
  const fieldsById = new Map(fields.map(({ id, ...own }) => [id, own]));
  const rows: (FoundSecret & { traceId: string; at: Date })[] = [];
  await eachInSlices(traces, ({ traceId, at, found }) => {
    const own = fieldsById.get(traceId);
    for (const one of [...found, ...(own ? inFields(own) : [])]) rows.push({ ...one, traceId, at: one.at ?? at });
  });
  if (rows.length === 0) return;
  const getState = await readStates(tx, userId);
  const states = rows.map((row) => (row.masked ? "masked" : getState(row)));
  const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name]);
  await tx.query(
    `insert into finding (user_id, trace_id, position, kind, mark, state, at)
     select $1::uuid, trace_id, position, kind, mark, state, at
     from unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
       as found (trace_id, position, kind, mark, state, at)
     on conflict (user_id, trace_id, position, kind, mark) do nothing`,
    [userId, column("traceId"), column("position"), column("kind"), column("mark"), states, column("at")],
  );
  const due = new Set(rows.filter((_, index) => states[index] === "masking").map(({ traceId }) => traceId));
  if (due.size === 0) return;
  await tx.query(
    `insert into masking_task (user_id, trace_id, created_at) select $1::uuid, id, $3::timestamptz from unnest($2::uuid[]) as due (id)
     on conflict (user_id, trace_id) do nothing`,
    [userId, [...due], new Date()],
  );
}

async function readStates(tx: PoolClient, userId: string) {
  const { rows } = await tx.query<{ kind: string; mark: string; traceId: string; verdict: string }>(
    `select kind, mark, trace_id as "traceId", verdict from secret_ruling where user_id = $1`,
    [userId],
  );
  const verdicts = new Map(rows.map(({ kind, mark, traceId, verdict }) => [`${kind} ${mark} ${traceId}`, verdict]));
  return ({ kind, mark, traceId }: { kind: string; mark: string; traceId: string }): string => {
    const verdict = verdicts.get(`${kind} ${mark} ${traceId}`) ?? verdicts.get(`${kind} ${mark} ${everywhere}`);
    if (verdict === undefined) return "open";
    return verdict === "keep" ? "kept" : "masking";
  };
}

export async function deleteFindings(tx: PoolClient, userId: string, traceIds: string[]): Promise<void> {
  await tx.query("delete from finding where user_id = $1 and trace_id = any($2::uuid[])", [userId, traceIds]);
  await tx.query("delete from masking_task where user_id = $1 and trace_id = any($2::uuid[])", [userId, traceIds]);
}
