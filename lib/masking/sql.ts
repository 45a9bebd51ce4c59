// SQL: one value, since Prisma blocks the event loop for 100 ms with 10,000 rows.
import "server-only";
import { pool } from "#lib/db/client";
import type { Ruling } from "#lib/masking/masker";

type RulingRow = [kind: string, mark: string, verdict: string, source: string | null, sourceId: string | null];

export async function readRulings(userId: string): Promise<Ruling[]> {
  const { rows } = await pool().query<{ rulings: RulingRow[] | null }>(
    `select json_agg(json_build_array(kind, mark, verdict, source, source_id) order by created_at) as rulings
     from secret_ruling where user_id = $1`,
    [userId],
  );
  return (rows[0]?.rulings ?? []).map(([kind, mark, verdict, source, sourceId]) => ({
    kind,
    mark,
    verdict: verdict === "keep" ? "keep" : "mask",
    ...(source !== null && sourceId !== null && { source, sourceId }),
  }));
}
