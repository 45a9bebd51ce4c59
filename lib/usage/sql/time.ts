// How long sessions went on. SQL: roll-ups (docs/decisions/0043-usage-from-roll-ups.md).
import "server-only";
import type { PoolClient } from "pg";

/**
 * The seconds of each span in which a user's sessions were active, pauses left out; spans without any are left out. Of sessions that
 * go on at the same time a quarter of an hour has no more than its own seconds.
 */
export async function readSeconds(
  tx: PoolClient,
  userId: string,
  starts: Date[],
  gone: string[],
): Promise<{ span: number; seconds: number }[]> {
  const { rows } = await tx.query<{ span: number; seconds: number }>(
    `select width_bucket(moment, $2::timestamptz[]) - 1 as span, sum(least(seconds, 900))::int as seconds from (
       select day::timestamp at time zone 'UTC' + quarter * interval '15 minutes' as moment, sum(piece.seconds) as seconds
       from trace_usage, unnest(quarters, quarter_seconds) as piece (quarter, seconds)
       where user_id = $1 and day between $3::date and $4::date and trace_id <> all($5::uuid[]) group by 1
     ) as moments
     where moment >= $6 and moment < $7 and seconds > 0 group by 1`,
    [userId, starts, dayOf(starts[0]), dayOf(starts.at(-1)), gone, starts[0], starts.at(-1)],
  );
  return rows;
}

const dayOf = (moment: Date | undefined) => moment?.toISOString().slice(0, 10);
