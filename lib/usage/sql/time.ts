// How long sessions went on. SQL: roll-ups (docs/decisions/0043-usage-from-roll-ups.md).
import "server-only";
import type { PoolClient } from "pg";

/** The quarters of an hour of each span in which any of a user's sessions had a message; spans without one are left out. */
export async function readQuarters(
  tx: PoolClient,
  userId: string,
  starts: Date[],
  gone: string[],
): Promise<{ span: number; quarters: number }[]> {
  const { rows } = await tx.query<{ span: number; quarters: number }>(
    `select width_bucket(moment, $2::timestamptz[]) - 1 as span, count(*)::int as quarters from (
       select distinct day::timestamp at time zone 'UTC' + quarter * interval '15 minutes' as moment
       from trace_usage, unnest(quarters) as quarter
       where user_id = $1 and day between $3::date and $4::date and trace_id <> all($5::uuid[])
     ) as moments
     where moment >= $6 and moment < $7 group by 1`,
    [userId, starts, dayOf(starts[0]), dayOf(starts.at(-1)), gone, starts[0], starts.at(-1)],
  );
  return rows;
}

const dayOf = (moment: Date | undefined) => moment?.toISOString().slice(0, 10);
