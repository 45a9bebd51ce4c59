import "server-only";
import { pool } from "#lib/db/client";

const maxPoints = 96;

/** The sum may exceed 32 bits. */
const given = "input_tokens::bigint + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens";

export type ContextPoint = { position: number; tokens: number };

/** SQL: keeps the maximum of equal groups of requests, so that any session is a small chart. */
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
