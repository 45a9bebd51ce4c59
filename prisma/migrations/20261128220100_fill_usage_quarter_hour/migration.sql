-- The sums of what is counted already; the ledger keeps them from now on.
INSERT INTO "usage_quarter_hour" (user_id, quarter, facets, messages, tokens, untimed, uncounted, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens,
  cache_write_1h_tokens, reasoning_tokens, cost_nano, recorded_nano, unpriced_tokens, tier_not_priced_tokens, compared_nano,
  compared_recorded_nano)
SELECT user_id, quarter, facets, sum(messages), sum(tokens), sum(untimed), sum(uncounted), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_5m_tokens),
  sum(cache_write_1h_tokens), sum(reasoning_tokens), sum(cost_nano), sum(recorded_nano), sum(unpriced_tokens), sum(tier_not_priced_tokens), sum(compared_nano), sum(compared_recorded_nano)
FROM (
  SELECT user_id, (day - date '1970-01-01') * 96 + unnest(quarters), facets, unnest(quarter_messages), unnest(quarter_tokens),
    unnest(quarter_untimed), unnest(quarter_uncounted), 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint,
    0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint
  FROM "trace_usage"
  UNION ALL
  SELECT user_id, floor(extract(epoch from at) / 900)::int, facets, 0, 0, 0, 0, input_tokens, output_tokens, cache_read_tokens,
    cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, coalesce(cost_nano, 0), coalesce(recorded_nano, 0),
    CASE WHEN cost_nano IS NULL THEN used.total ELSE 0 END, CASE WHEN tier_not_priced THEN used.total ELSE 0 END,
    CASE WHEN recorded_nano IS NULL THEN 0 ELSE coalesce(cost_nano, 0) END,
    CASE WHEN cost_nano IS NULL THEN 0 ELSE coalesce(recorded_nano, 0) END
  FROM "message_usage", LATERAL (
    SELECT input_tokens::bigint + output_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens AS total) AS used
  WHERE counted
) AS rows (user_id, quarter, facets, messages, tokens, untimed, uncounted, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens,
  cache_write_1h_tokens, reasoning_tokens, cost_nano, recorded_nano, unpriced_tokens, tier_not_priced_tokens, compared_nano,
  compared_recorded_nano)
GROUP BY user_id, quarter, facets;
