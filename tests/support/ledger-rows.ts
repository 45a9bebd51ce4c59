import type { PoolClient } from "pg";

/**
 * The number of rows to generate, the days before a moment over which they are spread, and the number of consecutive
 * traces with equal facets.
 */
export type LedgerSize = { traces: number; messages: number; days: number; until: Date; together?: number };

/**
 * Fills a user's ledger tables without messages: traces, their usage in total and by day, branches, pull requests and
 * projects. Sums agree between tables. Every other message has usage. Equal sizes give equal rows.
 */
export async function fillLedger(tx: PoolClient, userId: string, size: LedgerSize): Promise<void> {
  const values = [userId, size.traces, size.messages, size.days, size.until];
  await tx.query(makeTraces, [userId, size.traces, size.together ?? 5]);
  await tx.query(makeMessages, values.slice(1));
  await tx.query("analyze made_trace; analyze made_message");
  for (const statement of [...rows, ...rollUps]) await tx.query(statement, [userId]);
  await tx.query("drop table made_message; drop table made_trace");
}

/** SQL for a reproducible number from 0 to `below`. */
const pick = (what: string, serial: string, below: number | string) =>
  `((hashtextextended('${what}', ${serial}) & 1152921504606846975) % ${below})::int`;

const makeFacets = (model: string, branch: string) =>
  `hashtextextended(jsonb_build_array(source, ${model}, project, machine, ${branch}, project_id)::text, 0)`;

/** A session and its four sub-agents share agent, project, machine and branch. */
const makeTraces = `create temp table made_trace as
  select n, $1::uuid as user_id, md5($1::text || n)::uuid as id, source, model, project, machine,
    md5($1::text || project)::uuid as project_id,
    case when ${pick("on-branch", "work", 10)} < 7 then case when ${pick("main", "work", 2)} = 0 then 'main'
      else 'feature-' || n * 26 / $2::int end end as branch,
    case when ${pick("has-pull", "work", 10)} = 0 then ${pick("pull", "work", 900)} + 1 end as pull
  from (select n, work, (array['claude-code','claude-code','claude-code','codex-cli','codex-cli','gemini-cli','cursor'])
      [1 + ${pick("source", "work", 7)}] as source,
    (array['claude-opus-4-5','claude-sonnet-4-5','gpt-5-codex','gemini-3-pro','claude-haiku-4-5'])[1 + ${pick("model", "work", 5)}] as model,
    'project-' || ${pick("project", "work", `(1 + ${pick("projects", "work", 60)})`)} as project,
    (array['ada-laptop','ada-laptop','build-box','studio'])[1 + ${pick("machine", "work", 4)}] as machine
    from (select n, n / $3::int as work from generate_series(1, $2::int) as n) as numbered) as traces`;

/** Messages come a minute apart; one trace in thirty pauses for a day. gemini-3-pro has no price, nor has a tier of gpt-5-codex. */
const makeMessages = `create temp table made_message as
  select *, at::date as day, ${makeFacets("model", "null::text")} as trace_facets,
    ${makeFacets("own_model", "branch")} as own_facets,
    (input + output + cached + written5m + written1h) as used,
    own_model = 'gpt-5-codex' and position % 3 = 0 as tier_not_priced,
    case when own_model <> 'gemini-3-pro' then input * 3000::bigint + output * 15000::bigint + cached * 300::bigint
      + written5m * 3750::bigint + written1h * 6000::bigint end as cost
  from (
    select made.*, position, (at at time zone 'UTC') as at, at as moment, position % 2 = 1 as uses,
      case when ${pick("other-model", "made.n * 131 + position", 12)} = 0 then 'claude-haiku-4-5' else model end as own_model,
      ${pick("tokens", "made.n * 131 + position", 900)} as token_count, position % 2 * ${pick("input", "made.n * 131 + position", 400)} as input,
      position % 2 * ${pick("output", "made.n * 131 + position", 900)} as output, position % 2 * ${pick("cached", "made.n * 131 + position", 90_000)} as cached,
      position % 2 * ${pick("write", "made.n * 131 + position", 4_000)} as written5m,
      position % 2 * case when source = 'claude-code' then ${pick("long", "made.n * 131 + position", 2_000)} else 0 end as written1h
    from made_trace as made, generate_series(0, greatest(1, $2::int / $1::int * (1 + ${pick("length", "made.n", 3)}) / 2) - 1) as position,
      lateral (select date_bin('1 second', $4::timestamptz - make_interval(mins => 1440 + 50)
        - $3::int * interval '1 day' * (1 - made.n::float8 / $1::int)
        + make_interval(mins => position) + case when position > 3 and ${pick("pause", "made.n", 30)} = 0
          then interval '1 day' else '0' end, 'epoch') as at) as time
  ) as made`;

const amounts = `sum(input) as input_tokens, sum(output) as output_tokens, sum(cached) as cache_read_tokens,
  sum(written5m) as cache_write_5m_tokens, sum(written1h) as cache_write_1h_tokens, sum(output / 3) as reasoning_tokens`;
const recorded = "case when source = 'cursor' then cost + 1000 end";

const rows = [
  `insert into project (user_id, id, name) select distinct user_id, project_id, project from made_trace where user_id = $1`,
  `insert into usage_facets (user_id, facets, source, model, project, machine, branch, project_id)
   select distinct user_id, trace_facets, source, model, project, machine, null::text, project_id from made_message where user_id = $1
   union select distinct user_id, own_facets, source, own_model, project, machine, branch, project_id from made_message where user_id = $1 and uses`,
  `insert into trace (user_id, id, source, source_id, model, title, project, machine, created_at, activity_at, stored_at, message_count,
     token_count, content_hash, upload_sequence, usage_due, search_pending, ledger_due, accounted_version, accounted_to, project_id,
     cost_nano, recorded_nano, unpriced_tokens, tier_not_priced_tokens, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens,
     cache_write_1h_tokens, reasoning_tokens)
   select user_id, id, source, 'made-' || n, model, 'Session ' || n, project, machine, min(moment), max(moment), max(moment), count(*),
     sum(token_count), '', 0, false, false, false, 1, count(*), project_id,
     coalesce(sum(cost) filter (where uses), 0), sum(${recorded}) filter (where uses),
     coalesce(sum(used) filter (where uses and cost is null), 0),
     coalesce(sum(used) filter (where uses and tier_not_priced), 0), ${amounts}
   from made_message where user_id = $1 group by user_id, id, source, n, model, project, machine, project_id`,
  `insert into message_usage (user_id, trace_id, position, at, facets, model, branch, input_tokens, output_tokens, cache_read_tokens,
     cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, cost_nano, recorded_nano, tier_not_priced)
   select user_id, id, position, moment, own_facets, own_model, branch, input, output, cached, written5m, written1h, output / 3, cost, ${recorded},
     tier_not_priced
   from made_message where user_id = $1 and uses order by moment`,
  `insert into trace_usage (user_id, trace_id, day, facets, messages, tokens, untimed, uncounted, quarters, quarter_messages,
     quarter_tokens, quarter_untimed, quarter_uncounted, quarter_seconds)
   select user_id, id, day, trace_facets, sum(messages), sum(tokens), 0, 0, array_agg(quarter order by quarter),
     array_agg(messages order by quarter), array_agg(tokens order by quarter), array_agg(0 order by quarter), array_agg(0 order by quarter),
     array_agg(seconds order by quarter)
   from (select user_id, id, day, floor(extract(epoch from at::time) / 900)::int as quarter, trace_facets, count(*) as messages,
       sum(token_count) as tokens, coalesce(sum(seconds) filter (where seconds <= 300), 0) as seconds
     from (select *, extract(epoch from at - lag(at) over (partition by id order by position)) as seconds from made_message
       where user_id = $1) as messages group by 1, 2, 3, 4, 5) as quarters
   group by user_id, id, day, trace_facets order by day`,
  `insert into trace_branch (user_id, trace_id, branch, position, evidence)
   select user_id, id, branch, 0, 'metadata' from made_trace where user_id = $1 and branch is not null`,
  `insert into trace_pull_request (user_id, trace_id, url, repository, number, position, evidence)
   select user_id, id, 'https://github.com/acme/app/pull/' || number, 'acme/app', number, 0, 'metadata'
   from made_trace, lateral (select distinct unnest(array[pull, case when n % 20 = 0 then pull + 1 end]) as number) as pulls
   where user_id = $1 and number is not null`,
];

const rollUps = [
  `insert into usage_quarter_hour (user_id, quarter, facets, messages, tokens, untimed, uncounted, input_tokens, output_tokens,
     cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, cost_nano, recorded_nano, unpriced_tokens,
     tier_not_priced_tokens, compared_nano, compared_recorded_nano)
   select $1::uuid, quarter, facets, sum(messages), sum(tokens), sum(untimed), sum(uncounted), sum(input), sum(output), sum(cached),
     sum(written5m), sum(written1h), sum(reasoning), sum(cost), sum(recorded), sum(unpriced),
     sum(case when tier_not_priced then input + output + cached + written5m + written1h else 0 end),
     coalesce(sum(cost) filter (where recorded > 0), 0), coalesce(sum(recorded) filter (where cost > 0), 0)
   from (
     select (day - date '1970-01-01') * 96 + unnest(quarters) as quarter, facets, unnest(quarter_messages) as messages,
       unnest(quarter_tokens) as tokens, 0 as untimed, 0 as uncounted, 0 as input, 0 as output, 0 as cached, 0 as written5m, 0 as written1h,
       0 as reasoning, 0 as cost, 0 as recorded, 0 as unpriced, false as tier_not_priced
     from trace_usage where user_id = $1
     union all
     select floor(extract(epoch from at) / 900)::int, facets, 0, 0, 0, 0, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens,
       cache_write_1h_tokens, reasoning_tokens, coalesce(cost_nano, 0), coalesce(recorded_nano, 0), case when cost_nano is null
       then input_tokens + output_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens else 0 end, tier_not_priced
     from message_usage where user_id = $1 and counted
   ) as parts group by quarter, facets order by quarter`,
];
