// A 64-bit hash identifies one combination of agent, model, project, machine, branch and project id. SQL: PostgreSQL
// hashes, so rows need no look-up.
import "server-only";
import type { PoolClient } from "pg";
import { pool, transaction } from "#lib/db/client";
import type { LedgerTrace } from "#lib/ledger/part";
import { takeLedgerLock } from "#lib/ledger/sql/due";

/**
 * @param alias of `given`
 * @param model and `branch` are SQL expressions; a trace itself has no branch
 */
export const hashFacets = (alias: string, model = `${alias}.model`, branch = "null::text"): string =>
  `hashtextextended(jsonb_build_array(${alias}.source, ${model}, ${alias}.project, ${alias}.machine, ${branch},
    ${alias}.project_id)::text, 0)`;

export const given = `unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[])
  as given (id, source, model, project, machine, project_id)`;

export const givenValues = (userId: string, traces: LedgerTrace[]): unknown[] => [
  userId,
  traces.map(({ id }) => id),
  traces.map(({ source }) => source),
  traces.map(({ model }) => model),
  traces.map(({ project }) => project),
  traces.map(({ machine }) => machine),
  traces.map(({ projectId }) => projectId),
];

export async function purgeFacets(): Promise<number> {
  const { rows: users } = await pool().query<{ userId: string }>(
    `select distinct user_id as "userId" from usage_facets where ${unused("usage_facets")}`,
  );
  let deleted = 0;
  for (const { userId } of users) deleted += await transaction((tx) => purgeUserFacets(tx, userId));
  return deleted;
}

/** Takes the ledger's lock, because the ledger may be about to use them. */
async function purgeUserFacets(tx: PoolClient, userId: string): Promise<number> {
  await takeLedgerLock(tx);
  const { rows } = await tx.query<{ facets: string }>(
    `select facets from usage_facets where user_id = $1 and ${unused("usage_facets")}`,
    [userId],
  );
  // A replayed answer is in no sum, but its row still refers to its facets.
  const { rowCount } = await tx.query(
    `delete from usage_facets where user_id = $1 and facets = any($2::bigint[])
       and facets not in (select facets from message_usage where user_id = $1 and facets = any($2::bigint[]))`,
    [userId, rows.map(({ facets }) => facets)],
  );
  return rowCount ?? 0;
}

const unused = (table: string) =>
  ["trace_usage", "usage_quarter_hour"]
    .map(
      (user) =>
        `not exists (select 1 from ${user} where ${user}.user_id = ${table}.user_id and ${user}.facets = ${table}.facets)`,
    )
    .join(" and ");
