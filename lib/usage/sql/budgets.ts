// SQL: a budget is added only where there are not too many, in one statement.
import "server-only";
import { pool } from "#lib/db/client";

/** @returns whether there was room for it */
export async function insertBudget(
  userId: string,
  { facet, value, amountNano }: { facet: string; value: string; amountNano: number },
  most: number,
): Promise<boolean> {
  const { rowCount } = await pool().query(
    `insert into budget (user_id, facet, value, amount_nano, updated_at)
     select $1::uuid, $2::text, $3::text, $4::bigint, $6::timestamptz
     where exists (select 1 from budget where user_id = $1::uuid and facet = $2 and value = $3)
       or (select count(*) from budget where user_id = $1::uuid) < $5
     on conflict (user_id, facet, value) do update set amount_nano = excluded.amount_nano, updated_at = excluded.updated_at`,
    [userId, facet, value, amountNano, most, new Date()],
  );
  return rowCount === 1;
}
