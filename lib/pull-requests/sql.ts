// SQL: follows sub-agents and sums all rows at once.
import "server-only";
import { heavyRead } from "#lib/db/heavy";
import { Prisma } from "#lib/generated/prisma/client";
import { shownTitle } from "#lib/search/sql/selection";

type LinkedRow = {
  id: string;
  title: string | null;
  source: string;
  model: string | null;
  createdAt: Date | null;
  activityAt: Date;
  storedAt: Date;
  dated: boolean;
  messageCount: number;
  costNano: string;
  unpricedTokens: string;
  subagents: number;
  linkedTo: number;
  position: number | null;
  evidence: string;
};

type TotalRow = {
  sessions: number;
  subagents: number;
  costNano: string;
  unpricedTokens: string;
  tierNotPricedTokens: string;
  inputTokens: string;
  outputTokens: string;
  cacheReadTokens: string;
  cacheWriteTokens: string;
  createdAt: Date | null;
  updatedAt: Date | null;
  sources: string[] | null;
  models: string[] | null;
  files: number;
  linesAdded: string;
  linesRemoved: string;
};

type CommitRow = {
  hash: string;
  subject: string | null;
  repository: string | null;
  traceId: string;
  position: number | null;
};

type PullRequestRows = { urls: string[]; sessions: LinkedRow[]; total: TotalRow; commits: CommitRow[] };

export type PullRequestKey = { repository: string; number: number };

/** Linked sessions (`root`) and their sub-agents, each once. */
const family = (userId: string, { repository, number }: PullRequestKey) => Prisma.sql`
  linked as (
    select distinct on (trace_id) trace_id, position, evidence from trace_pull_request
    where user_id = ${userId}::uuid and number = ${number}::int and repository = ${repository} and counted
    order by trace_id, position nulls last
  ), root as (
    select linked.* from linked join trace on trace.user_id = ${userId}::uuid and trace.id = linked.trace_id
    where trace.deleted_at is null
  ), descent as (
    with recursive down as (
      select trace_id as root_id, trace_id as id from root
      union
      select down.root_id, child.id from down join trace child on child.user_id = ${userId}::uuid
        and child.parent_id = down.id and child.parent_relation = 'subagent' and child.deleted_at is null
    ) select * from down
  ), member as (select distinct id from descent)`;

export function readPullRequestRows(
  userId: string,
  key: PullRequestKey,
  max: { sessions: number; commits: number },
): Promise<PullRequestRows | undefined> {
  return heavyRead(userId, async (tx) => {
    const { rows: sessions } = await tx.query<LinkedRow>(Prisma.sql`
      with ${family(userId, key)}, cost as (
        select root_id, sum(trace.cost_nano) as cost_nano, sum(trace.unpriced_tokens) as unpriced, count(*) - 1 as subagents
        from descent join trace on trace.user_id = ${userId}::uuid and trace.id = descent.id group by root_id
      )
      select trace.id, ${shownTitle} as title, source, model, created_at as "createdAt",
        activity_at as "activityAt", stored_at as "storedAt", dated, message_count as "messageCount", cost.cost_nano as "costNano",
        cost.unpriced as "unpricedTokens", cost.subagents::int as subagents, root.position, root.evidence,
        (select count(*)::int from trace_pull_request other
          where other.user_id = ${userId}::uuid and other.trace_id = trace.id and other.counted) as "linkedTo"
      from root join trace on trace.user_id = ${userId}::uuid and trace.id = root.trace_id
      join cost on cost.root_id = trace.id
      order by activity_at desc, trace.id desc limit ${max.sessions}`);
    if (sessions.length === 0) return undefined;
    const { rows: totals } = await tx.query<TotalRow>(Prisma.sql`
      with ${family(userId, key)}
      select (select count(*)::int from root) as sessions,
        (select count(*)::int from member where id not in (select trace_id from root)) as subagents,
        sum(cost_nano) as "costNano", sum(unpriced_tokens) as "unpricedTokens",
        sum(tier_not_priced_tokens) as "tierNotPricedTokens", sum(input_tokens) as "inputTokens",
        sum(output_tokens) as "outputTokens", sum(cache_read_tokens) as "cacheReadTokens",
        sum(cache_write_5m_tokens + cache_write_1h_tokens) as "cacheWriteTokens",
        min(coalesce(created_at, activity_at)) filter (where dated) as "createdAt",
        max(activity_at) filter (where dated) as "updatedAt",
        array_agg(distinct source) as sources, array_agg(distinct model) filter (where model is not null) as models,
        sum(lines_added) as "linesAdded", sum(lines_removed) as "linesRemoved",
        (select count(distinct path)::int from trace_file where user_id = ${userId}::uuid and action <> 'read' and counted
          and trace_id in (select id from member)) as files
      from member join trace on trace.user_id = ${userId}::uuid and trace.id = member.id`);
    const { rows: commits } = await tx.query<CommitRow>(Prisma.sql`
      with ${family(userId, key)}
      select * from (
        select distinct on (hash) hash, subject, repository, trace_id as "traceId", position, activity_at
        from trace_commit join trace on trace.user_id = ${userId}::uuid and trace.id = trace_commit.trace_id
        where trace_commit.user_id = ${userId}::uuid and trace_id in (select id from member)
          and counted and evidence not in ('session-meta')
        order by hash, position nulls last) as made
      order by activity_at, "traceId", position limit ${max.commits}`);
    const { rows: urls } = await tx.query<{ url: string }>(Prisma.sql`
      with ${family(userId, key)}
      select distinct url from trace_pull_request where user_id = ${userId}::uuid and number = ${key.number}::int
        and repository = ${key.repository} and trace_id in (select trace_id from root) order by url limit 20`);
    return { urls: urls.map(({ url }) => url), sessions, total: totals[0] as TotalRow, commits };
  });
}
