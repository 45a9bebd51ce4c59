import "server-only";
import { wholeRange } from "#lib/masking/for-others";
import { readPicture } from "#lib/messages/pictures/read-picture";
import { findStored, hasStored } from "#lib/messages/pictures/sql";
import type { Message } from "#lib/messages/schema";
import { readReferences, type ShownPicture } from "#lib/transcript/pictures";

export async function getPicture(userId: string, traceId: string, sha256: string): Promise<Response> {
  return toPictureResponse(await readPicture({ userId, traceId, ...wholeRange, turn: userId }, sha256));
}

/** The strict policy (lib/http/headers.ts) lets nothing in a picture run. */
export const toPictureResponse = ({ mediaType, body }: Awaited<ReturnType<typeof readPicture>>): Response =>
  new Response(body, { headers: { "Content-Type": mediaType, "Content-Disposition": "inline" } });

export async function withPictures<M extends Pick<Message, "metadata">>(
  userId: string,
  traceId: string,
  messages: M[],
): Promise<(M & { pictures?: ShownPicture[] })[]> {
  const references = messages.map(({ metadata }) => readReferences(metadata));
  const hashes = new Set(references.flat().map(({ sha256 }) => sha256));
  if (hashes.size === 0) return messages;
  const stored = await findStored(userId, traceId, [...hashes]);
  return messages.map((message, at) => {
    const pictures = (references[at] ?? []).map((one) => ({ ...one, isStored: stored.has(one.sha256) }));
    return pictures.length === 0 ? message : { ...message, pictures };
  });
}

export const hasPictures: (userId: string, traceId: string) => Promise<boolean> = hasStored;
