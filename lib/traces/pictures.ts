import "server-only";
import { notFound, SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { getNetwork, getSite } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";
import { readPicture } from "#lib/messages/pictures/read-picture";
import { findStored, hasStored } from "#lib/messages/pictures/sql";
import { wholeRange } from "#lib/masking/for-others";
import type { Message } from "#lib/traces/queries";
import { openShare } from "#lib/shares/shares";
import { readReferences, type ShownPicture } from "#lib/transcript/pictures";

/** @throws SpoorError as `readPicture` */
export async function getPicture(userId: string, traceId: string, sha256: string): Promise<Response> {
  return asResponse(await readPicture({ userId, traceId, ...wholeRange, turn: userId }, sha256));
}

const perNetwork = { points: limits.pictures.sharedPerMinutePerNetwork, seconds: 60 };

/**
 * A link without pictures and an invalid link give the same answer.
 * @param address the reader's, for the limits
 * @throws SpoorError `rate_limited`; as `readPicture`
 */
export async function getSharedPicture(token: string, sha256: string, address: string): Promise<Response> {
  const wait = address === "unknown" ? undefined : await overLimit("shared-picture", getNetwork(address), perNetwork);
  if (wait) throw new SpoorError("rate_limited", undefined, { retryAfterSeconds: wait });
  const opened = await openShare(token, address);
  if (!opened?.shown.pictures) throw notFound();
  const { userId, traceId, shown } = opened;
  // A slow reader delays only their own network.
  const turn = `shared ${getSite(address)}`;
  return asResponse(await readPicture({ userId, traceId, from: shown.from, to: shown.to, turn }, sha256));
}

/** The strict policy (lib/http/headers.ts) lets nothing in a picture run. */
const asResponse = ({ mediaType, body }: Awaited<ReturnType<typeof readPicture>>): Response =>
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
