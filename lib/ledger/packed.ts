// Messages of packed traces for the ledger. They stay packed: a change of prices has every trace read again.
import "server-only";
import type { PoolClient } from "pg";
import type { LedgerMessage } from "#lib/ledger/part";
import { maxBytes, maxStart, needed, smallBytes } from "#lib/ledger/sql/messages";
import { messagesIn, type PackedMessage } from "#lib/packs/format";
import { metadataOf, readMessages, readPacks } from "#lib/packs/read";
import { readHeads } from "#lib/packs/sql/read";
import { firstCharacters } from "#lib/packs/text";

/** All messages of a trace that is packed, in their order; none of another. */
export async function* readPacked(tx: PoolClient, userId: string, traceId: string): AsyncGenerator<LedgerMessage> {
  const heads = await readHeads(tx, userId, [traceId]);
  for await (const message of readMessages(tx, userId, heads)) yield present(message);
}

/** As the columns of sql/messages.ts are made of a row. */
function present(message: PackedMessage): LedgerMessage {
  const { position, role, tokenCount, createdAt, content } = message;
  const shown = content.length <= maxBytes ? content : firstCharacters(content, maxStart);
  return { position, role, tokenCount, createdAt, content: `${shown}`, metadata: boundedMetadata(message) };
}

function boundedMetadata(message: PackedMessage): LedgerMessage["metadata"] {
  const metadata = metadataOf(message) as LedgerMessage["metadata"];
  if (metadata === null || (message.metadata?.length ?? 0) <= maxBytes) return metadata;
  const isKept = ([key, value]: [string, unknown]) =>
    needed.includes(key) && Buffer.byteLength(JSON.stringify(value)) < smallBytes;
  return Object.fromEntries(Object.entries(metadata).filter(isKept));
}

/** When messages of packed traces were, and the tokens that they count: arrays of one length. */
export type PackedTimes = {
  traceIds: string[];
  positions: number[];
  tokenCounts: (number | null)[];
  createdAt: (Date | null)[];
};

/** The times of the messages of those traces that are packed. @param isOwn whether copied ones are left out */
export async function readTimes(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
  isOwn: boolean,
): Promise<PackedTimes> {
  const times: PackedTimes = { traceIds: [], positions: [], tokenCounts: [], createdAt: [] };
  const heads = await readHeads(tx, userId, traceIds);
  for await (const { traceId, rows } of readPacks(tx, userId, heads)) {
    for (const message of messagesIn(rows)) {
      if (isOwn && (metadataOf(message) as LedgerMessage["metadata"])?.replayed === true) continue;
      const { position, tokenCount, createdAt } = message;
      times.traceIds.push(traceId);
      times.positions.push(position);
      times.tokenCounts.push(tokenCount);
      times.createdAt.push(createdAt);
    }
  }
  return times;
}

/** Where messages of packed traces name the session that did the work, in their order. */
export async function* readStarts(
  tx: PoolClient,
  userId: string,
  traceIds: string[],
): AsyncGenerator<{ id: string; session: string; position: number }> {
  const heads = await readHeads(tx, userId, traceIds);
  for await (const { traceId, rows } of readPacks(tx, userId, heads)) {
    for (const message of messagesIn(rows)) {
      if (!message.metadata?.includes('"session"')) continue;
      const { result } = metadataOf(message) as { result?: { session?: unknown } | null };
      if (typeof result?.session === "string")
        yield { id: traceId, session: result.session, position: message.position };
    }
  }
}
