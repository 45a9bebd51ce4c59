import "server-only";
import { z } from "zod";
import { notFound } from "#lib/core/errors";
import { decodeCursor, encodeCursor, exactText, utcInstant } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import { readSlice } from "#lib/db/sql/bodies";
import { getFingerprint } from "#lib/originals/keys";
import type { OriginalsQuery } from "#lib/originals/schema";
import { type ListPlace, type OriginalKey, type OriginalRow, readOriginal, readOriginals } from "#lib/originals/sql";
import { readStored, sendInTurn } from "#lib/storage/bounded-read";

type Bigints = "version" | "plainBytes" | "storedBytes";
type Stored = Omit<OriginalRow, Bigints> & Record<Bigints, bigint | string>;

const tell = <Row extends Stored>({ version, recipient, plainBytes, storedBytes, updatedAt, ...row }: Row) => ({
  ...row,
  version: String(version),
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

export async function describeOriginal(userId: string, { source, sourceId }: OriginalKey) {
  const where = { userId_source_sourceId: { userId, source, sourceId } };
  const row = await prisma().original.findUnique({ where, omit: { userId: true, head: true, parts: true } });
  return row ? tell(row) : undefined;
}

export async function sumOriginals(userId: string): Promise<{ copies: number; bytes: number }> {
  const { _count, _sum } = await prisma().original.aggregate({
    where: { userId },
    _count: true,
    _sum: { storedBytes: true },
  });
  return { copies: _count, bytes: Number(_sum.storedBytes ?? 0) };
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

export async function loadPart(userId: string, sha256: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const part = await prisma().originalPart.findUnique({
    where: { userId_sha256: { userId, sha256: Buffer.from(sha256, "hex") } },
    select: { object: true, bytes: true },
  });
  const read = (from: number, bytes: number) => readSlice("original_part", { userId, sha256 }, from, bytes);
  return part ? readStored(userId, part, read) : undefined;
}

export async function getPart(userId: string, sha256: string): Promise<Response> {
  // Has a queue separate from the user's pictures.
  const { body } = await sendInTurn(`originals ${userId}`, async () => {
    const stored = await loadPart(userId, sha256);
    if (!stored) throw notFound();
    return { stored };
  });
  return new Response(body, { headers: { "Content-Type": "application/octet-stream" } });
}
