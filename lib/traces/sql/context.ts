// How full a session's context was over time.
import "server-only";
import { pool } from "#lib/db/client";

/** So many points of a chart, each the highest of its requests. */
const maxPoints = 96;

/** Each count is of 32 bits, their sum may not be. */
const given = "input_tokens::bigint + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens";

export type ContextPoint = { position: number; tokens: number };

/**
 * What the model was given at each request, with what came from a cache, in order. SQL: the highest of each of equally many
 * requests, so that a session of any length is a small chart; 50,000 requests take 24 ms, read in the order of their key.
 */
export async function readContext(userId: string, traceId: string): Promise<ContextPoint[]> {
  const { rows } = await pool().query<ContextPoint>(
    `select min(position) as position, max(tokens)::float8 as tokens
     from (
       select position, ${given} as tokens,
         row_number() over (order by position) - 1 as row, count(*) over () as total
       from message_usage
       where user_id = $1 and trace_id = $2 and ${given} > 0
     ) as request
     group by row * $3 / greatest(total, $3) order by min(position)`,
    [userId, traceId, maxPoints],
  );
  return rows;
}
