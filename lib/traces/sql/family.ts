// SQL: a recursive walk along the index of children, bounded in rows.
import "server-only";
import { pool } from "#lib/db/client";
import { Prisma } from "#lib/generated/prisma/client";
import { shownTitle } from "#lib/search/sql/selection";

/** Must match lib/core/fields.ts. */
const sumUsedTokens = Prisma.raw(`coalesce(nullif(input_tokens + output_tokens + cache_read_tokens
  + cache_write_5m_tokens + cache_write_1h_tokens, 0), token_count)`);

export type Relation = "subagent" | "fork" | "continuation";

/** Deeper than the ledger links (lib/ledger/kinship.ts), so that a cycle ends. */
const maxDepth = 100;

type SumsRow = Record<`${Relation}s`, number> & {
  id: string;
  below: number;
  messages: number;
  tokens: number;
  costNano: string;
  unpricedTokens: string;
  tierNotPricedTokens: string;
  seconds: number;
};

/** Excludes messages copied from another session (lib/ledger/sql/activity.ts). */
const ownMessages = `(select coalesce(sum(messages), 0) from trace_usage where trace_usage.user_id = $1 and trace_id = trace.id)`;

/**
 * Counts children by kind, and sums everything below.
 * @param max bound on rows in total
 */
export async function readSums(userId: string, ids: string[], max: number): Promise<SumsRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await pool().query<SumsRow>(
    // A join afterwards would read all of the user's traces.
    `with recursive tree as (
       select given.id as root, given.id, 0 as depth, null as parent_relation, 0::bigint as messages, 0::bigint as tokens,
         0::bigint as cost_nano, 0::bigint as unpriced_tokens,
         0::bigint as tier_not_priced_tokens, 0 as active_seconds
       from unnest($2::uuid[]) as given (id)
       union all
       select tree.root, child.id, tree.depth + 1, child.parent_relation, child.messages, child.tokens,
         child.cost_nano, child.unpriced_tokens, child.tier_not_priced_tokens, child.active_seconds
       from tree cross join lateral (
         select id, parent_relation, ${ownMessages} as messages, ${sumUsedTokens.sql} as tokens, cost_nano, unpriced_tokens,
           tier_not_priced_tokens, active_seconds
         from trace where user_id = $1 and parent_id = tree.id and deleted_at is null limit $3) as child
       where tree.depth < $4)
     select root as id, count(*)::int as below,
       count(*) filter (where depth = 1 and parent_relation = 'subagent')::int as subagents,
       count(*) filter (where depth = 1 and parent_relation = 'fork')::int as forks,
       count(*) filter (where depth = 1 and parent_relation = 'continuation')::int as continuations,
       sum(messages)::float8 as messages, sum(tokens)::float8 as tokens, sum(cost_nano) as "costNano",
       sum(unpriced_tokens) as "unpricedTokens", sum(tier_not_priced_tokens) as "tierNotPricedTokens",
       sum(active_seconds)::float8 as seconds
     from (select * from tree where depth > 0 limit $3) as below group by root`,
    [userId, ids, max, maxDepth],
  );
  return rows;
}

export async function readSubagentIds(userId: string, ids: string[], max: number): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(
    `with recursive tree as (
       select given.id, 0 as depth from unnest($2::uuid[]) as given (id)
       union all
       select child.id, tree.depth + 1 from tree cross join lateral (
         select id from trace where user_id = $1 and parent_id = tree.id and parent_relation = 'subagent'
           and deleted_at is null limit $3) as child
       where tree.depth < $4)
     select distinct id from (select id from tree where depth > 0 limit $3) as below`,
    [userId, ids, max, maxDepth],
  );
  return rows.map(({ id }) => id);
}

export type MemberRow = {
  id: string;
  parentId: string;
  relation: Relation;
  position: number | null;
  source: string;
  title: string | null;
  model: string | null;
  messageCount: number;
  tokens: string;
  costNano: string;
  unpricedTokens: string;
  tierNotPricedTokens: string;
  createdAt: Date | null;
  activityAt: Date;
  storedAt: Date;
  dated: boolean;
  activeSeconds: number;
};

const member = `id, parent_id as "parentId", parent_relation as relation, parent_position as position, source,
  ${shownTitle.sql} as title, model, message_count as "messageCount", ${sumUsedTokens.sql} as tokens,
  cost_nano as "costNano", unpriced_tokens as "unpricedTokens", tier_not_priced_tokens as "tierNotPricedTokens",
  created_at as "createdAt", activity_at as "activityAt", stored_at as "storedAt", dated, active_seconds as "activeSeconds"`;

const maxSorted = 1000;

export async function readChildren(userId: string, ids: string[], each: number): Promise<MemberRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await pool().query<MemberRow>(
    `select child.* from unnest($2::uuid[]) as given (id) cross join lateral (
       select * from (
         select ${member} from trace where user_id = $1 and parent_id = given.id and deleted_at is null
         limit ${maxSorted}) as any_of_them
       order by position, "createdAt", id limit $3) as child`,
    [userId, ids, each],
  );
  return rows;
}

type OriginRow = {
  id: string;
  relation: Relation;
  position: number | null;
  parentId: string;
  title: string | null;
};

export async function readOrigins(userId: string, ids: string[]): Promise<OriginRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await pool().query<OriginRow>(
    `select child.id, child.parent_relation as relation, child.parent_position as position, parent.id as "parentId",
       coalesce(parent.custom_title, parent.short_title, parent.title, parent.derived_title) as title
     from trace child join trace parent on parent.user_id = $1 and parent.id = child.parent_id
     where child.user_id = $1 and child.id = any($2) and parent.deleted_at is null`,
    [userId, ids],
  );
  return rows;
}
