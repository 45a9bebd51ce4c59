import "server-only";
import { notFound, SpoorError } from "#lib/errors";
import { getNetwork, getSite } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";
import { limits } from "#lib/limits";
import { readPicture } from "#lib/pictures/read";
import { findStored, hasStored } from "#lib/pictures/sql";
import { readReferences, type ShownPicture } from "#lib/reader/picture-references";
import { wholeRange } from "#lib/traces/for-others";
import type { Message } from "#lib/traces/queries";
import { openShare } from "#lib/traces/shares";

/** A picture of a user's trace. @throws SpoorError as `readPicture` */
export async function getPicture(userId: string, traceId: string, sha256: string): Promise<Response> {
  return asResponse(await readPicture({ userId, traceId, ...wholeRange, turn: userId }, sha256));
}

const perNetwork = { points: limits.pictures.sharedPerMinutePerNetwork, seconds: 60 };

/**
 * A picture of what a share link opens. A link that opens no pictures, and one that opens nothing, are missing alike.
 *
 * @param address the reader's, for the limits.
 * @throws SpoorError `rate_limited`; as `readPicture`
 */
export async function getSharedPicture(token: string, sha256: string, address: string): Promise<Response> {
  const wait = address === "unknown" ? undefined : await overLimit("shared-picture", getNetwork(address), perNetwork);
  if (wait) throw new SpoorError("rate_limited", undefined, { retryAfterSeconds: wait });
  const opened = await openShare(token, address);
  if (!opened?.shown.pictures) throw notFound();
  const { userId, traceId, shown } = opened;
  // Whoever reads slowly makes only their own network wait.
  const turn = `shared ${getSite(address)}`;
  return asResponse(await readPicture({ userId, traceId, from: shown.from, to: shown.to, turn }, sha256));
}

/** Shown where it is asked for, and never as anything but a picture: the closed policy (lib/http/headers.ts) lets nothing in it run. */
const asResponse = ({ mediaType, body }: Awaited<ReturnType<typeof readPicture>>): Response =>
  new Response(body, { headers: { "Content-Type": mediaType, "Content-Disposition": "inline" } });

/** Messages with the pictures that they refer to, for those who may see them. */
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

/** Whether any picture that a trace refers to is stored. */
export const hasPictures: (userId: string, traceId: string) => Promise<boolean> = hasStored;
