import "server-only";
import { z } from "zod";
import { notFound } from "#lib/core/errors";
import { decodeCursor, encodeCursor, exactText, utcInstant } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { getFingerprint } from "#lib/originals/keys";
import type { OriginalsQuery } from "#lib/originals/schema";
import {
  findOriginal,
  findPart,
  type ListPlace,
  type OriginalKey,
  type OriginalRow,
  readOriginal,
  readOriginals,
  readPartSlice,
} from "#lib/originals/sql";
import { readStored, sendInTurn } from "#lib/storage/bounded-read";

const tell = <Row extends OriginalRow>({ recipient, plainBytes, storedBytes, updatedAt, ...row }: Row) => ({
  ...row,
  fingerprint: getFingerprint(recipient),
  plainBytes: Number(plainBytes),
  storedBytes: Number(storedBytes),
  updatedAt: updatedAt.toISOString(),
});

export async function getOriginal(userId: string, key: OriginalKey) {
  const row = await readOriginal(userId, key);
  if (!row) throw notFound();
  const { head, parts, ...rest } = row;
  return { ok: true as const, ...tell(rest), recipient: row.recipient, head: head.toString("base64"), parts };
}

export async function describeOriginal(userId: string, key: OriginalKey) {
  const row = await findOriginal(userId, key);
  return row && tell(row);
}

/**
 * Newest first.
 * @throws SpoorError `invalid_request` for an unknown cursor
 */
export async function listOriginals(userId: string, { cursor, limit, ...filter }: OriginalsQuery) {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const rows = await readOriginals(userId, { ...filter, after, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    ok: true as const,
    originals: page.map(tell),
    nextCursor: rows.length > limit && last ? makeCursor(last) : null,
  };
}

const { source, sourceId } = limits.trace;
const cursorShape = z.tuple([utcInstant, exactText(1, source), exactText(1, sourceId)]);

const makeCursor = ({ updatedAt, source, sourceId }: OriginalRow) =>
  encodeCursor([updatedAt.toISOString(), source, sourceId]);

function readCursor(cursor: string): ListPlace {
  const [updatedAt, source, sourceId] = decodeCursor(cursorShape, cursor);
  return { updatedAt, source, sourceId };
}

export async function getPart(userId: string, sha256: string): Promise<Response> {
  // Has a queue separate from the user's pictures.
  const { body } = await sendInTurn(`originals ${userId}`, async () => {
    const part = await findPart(userId, sha256);
    if (!part) throw notFound();
    const stored = await readStored(userId, part, (from, bytes) => readPartSlice(userId, sha256, from, bytes));
    if (!stored) throw notFound();
    return { stored };
  });
  return new Response(body, { headers: { "Content-Type": "application/octet-stream" } });
}
