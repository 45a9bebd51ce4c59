// Reading packs. SQL: several packs by their keys in one statement, bounded by what they hold; in the transaction of a reader.
import "server-only";
import type { Queryable } from "#lib/db/client";
import type { MessagePack } from "#lib/generated/prisma/client";

/** A pack without its body: `bytes` is the size of what it holds. */
export type PackHead = Pick<MessagePack, "traceId" | "firstPosition" | "lastPosition" | "messages" | "bytes">;

const head = `trace_id as "traceId", first_position as "firstPosition", last_position as "lastPosition", messages, bytes`;

/** The packs of traces without their bodies, by trace, each trace's in their order. */
export async function readHeads(db: Queryable, userId: string, traceIds: string[]): Promise<PackHead[]> {
  const { rows } = await db.query<PackHead>(
    `select ${head} from message_pack where user_id = $1 and trace_id = any($2) order by trace_id, first_position`,
    [userId, traceIds],
  );
  return rows;
}

/** The bodies of packs, in the order of their heads; without those that are gone. */
export async function readBodies(
  db: Queryable,
  userId: string,
  heads: PackHead[],
): Promise<(PackHead & { body: Buffer })[]> {
  const { rows } = await db.query<PackHead & { body: Buffer }>(
    `select ${head}, body from unnest($2::uuid[], $3::int[]) with ordinality as given (trace, first, place)
     join message_pack on user_id = $1 and trace_id = given.trace and first_position = given.first order by place`,
    [userId, heads.map(({ traceId }) => traceId), heads.map(({ firstPosition }) => firstPosition)],
  );
  return rows;
}

const isLive = "exists (select from trace where user_id = $1 and id = $2 and deleted_at is null)";

/** A pack of a page, and how many packs the page's side of the trace has. */
export type PagePack = PackHead & { body: Buffer; all: number };

/**
 * The packs of a live trace with messages after a position, or before it, the nearest first: the first one, and the next ones until
 * they have a number of messages or of bytes. All in one statement, so that an upload meanwhile does not end a page too early.
 */
export async function readNear(
  db: Queryable,
  userId: string,
  traceId: string,
  { side, position, limit, maxBytes }: { side: "after" | "before"; position: number; limit: number; maxBytes: number },
): Promise<PagePack[]> {
  const [has, order] = side === "after" ? ["last_position >", "asc"] : ["first_position <", "desc"];
  const before = `over (order by first_position ${order} rows between unbounded preceding and 1 preceding)`;
  const first = `over (order by first_position ${order})`;
  const { rows } = await db.query<PagePack>(
    `select ${head}, body, "all" from (
       select *, (count(*) over ())::int as "all",
         sum(messages) ${before} - first_value(messages) ${first} as messages_before,
         sum(bytes) ${before} - first_value(bytes) ${first} as bytes_before
       from message_pack where user_id = $1 and trace_id = $2 and ${has} $3 and ${isLive}) as near
     where messages_before is null or (messages_before < $4 and bytes_before < $5)
     order by first_position ${order}`,
    [userId, traceId, position, limit, maxBytes],
  );
  return rows;
}

/** The packs of a live trace that may have messages at some positions, in their order. */
export async function readHolding(
  db: Queryable,
  userId: string,
  traceId: string,
  positions: number[],
): Promise<PackHead[]> {
  const { rows } = await db.query<PackHead>(
    `select ${head} from message_pack where user_id = $1 and trace_id = $2 and ${isLive}
       and exists (select from unnest($3::int[]) as wanted (position)
         where wanted.position between first_position and last_position)
     order by first_position`,
    [userId, traceId, positions],
  );
  return rows;
}
