import "server-only";
import { heavyRead } from "#lib/db/heavy";

/** The latest quarter of an hour with usage before a moment, if any. SQL: it unnests arrays. */
export async function findLastUse(userId: string, before: Date): Promise<Date | undefined> {
  const statement = `select at from trace_usage, unnest(quarters) as quarter,
       lateral (select (day::timestamp at time zone 'UTC') + quarter * interval '15 minutes' as at) as moment
     where user_id = $1 and day > 'epoch' and day <= ($2::timestamptz at time zone 'UTC')::date and at < $2
       and trace_id not in (select id from trace where user_id = $1 and ledger_due and deleted_at is not null)
     order by day desc, at desc limit 1`;
  const { rows } = await heavyRead(userId, (tx) => tx.query<{ at: Date }>(statement, [userId, before]));
  return rows[0]?.at;
}
