import "server-only";
import { notFound } from "#lib/core/errors";
import { readSlice } from "#lib/db/sql/bodies";
import { findPicture } from "#lib/messages/pictures/sql";
import { readStored, sendInTurn } from "#lib/storage/bounded-read";
import { unseal } from "#lib/storage/sealed";

/** `turn` names the queue that the reader waits in. */
type PictureRequest = { userId: string; traceId: string; from: number | null; to: number | null; turn: string };

type Read = { mediaType: string; body: ReadableStream<Uint8Array> };

/** @throws SpoorError `not_found`, also for another trace's or user's picture; as `sendInTurn` */
export async function readPicture({ userId, traceId, turn, ...span }: PictureRequest, sha256: string): Promise<Read> {
  return sendInTurn(turn, async () => {
    const picture = await findPicture(userId, traceId, sha256, span);
    if (!picture) throw notFound();
    const { mediaType, object, stored: bytes } = picture;
    const read = (from: number, count: number) => readSlice("picture", { userId, sha256 }, from, count);
    const stored = await readStored(userId, { object, bytes }, read);
    if (!stored) throw notFound();
    return { mediaType, stored: unseal(stored) };
  });
}
