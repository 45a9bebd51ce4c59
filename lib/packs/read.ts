// Messages of packed traces. A trace has all of its messages in rows, or all of them in packs.
import "server-only";
import type { Queryable } from "#lib/db/client";
import { inflate, messagesIn, type PackedMessage } from "#lib/packs/format";
import { groupsOf } from "#lib/packs/groups";
import { type PackHead, readBodies, readHeads } from "#lib/packs/sql/read";

/** How much of inflated packs is held at a time. */
const heldBytes = 2 * 1024 * 1024;

/** A pack that was read. */
export type Pack = PackHead & { rows: Buffer };

/** A trace was unpacked while its packs were read. */
class PacksGone extends Error {
  constructor() {
    super("a session was unpacked while it was read");
  }
}

/** The packs of some heads, in their order, read a few at a time. @throws PacksGone */
export async function* readPacks(db: Queryable, userId: string, heads: PackHead[]): AsyncGenerator<Pack> {
  for (const group of groupsOf(heads, heldBytes)) {
    const packs = await readBodies(db, userId, group);
    if (packs.length !== group.length) throw new PacksGone();
    for (const { body, ...head } of packs) yield { ...head, rows: await inflate(body, head.bytes) };
  }
}

/** The packs that some traces have, without their bodies, by trace: a trace that is not packed has none. */
export async function headsOf(db: Queryable, userId: string, traceIds: string[]): Promise<Map<string, PackHead[]>> {
  return Map.groupBy(await readHeads(db, userId, traceIds), ({ traceId }) => traceId);
}

/** All messages of some packs, in their order. */
export async function* readMessages(db: Queryable, userId: string, heads: PackHead[]): AsyncGenerator<PackedMessage> {
  for await (const { rows } of readPacks(db, userId, heads)) yield* messagesIn(rows);
}

/** What metadata is as a value. */
export const metadataOf = ({ metadata }: Pick<PackedMessage, "metadata">): unknown =>
  metadata === null ? null : JSON.parse(metadata.toString());

/**
 * What a reader finds in rows, or in packs, outside of a transaction. A trace may be packed or unpacked between two statements:
 * rows are looked for again where neither was found.
 */
export async function fromRowsOrPacks<T>(rows: () => Promise<T[]>, packs: () => Promise<T[]>): Promise<T[]> {
  const stored = await rows();
  if (stored.length > 0) return stored;
  const packed = await packs().catch((error) => {
    if (error instanceof PacksGone) return [];
    throw error;
  });
  return packed.length > 0 ? packed : rows();
}
