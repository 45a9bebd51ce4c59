import "server-only";
import { maskValueForOthers } from "#common/secrets/mask";
import { beginRead, hasTooMany } from "#lib/db/heavy";
import { readFileSums } from "#lib/files/files";
import { forOthers, readHiddenNames, type SharedRange, wholeRange } from "#lib/masking/for-others";
import { makeHider } from "#lib/masking/mask-pieces";
import { visitMessages } from "#lib/messages/read-messages";
import { getTrace } from "#lib/traces/queries";
import { type Combined, makeCombiner } from "#lib/transcript/files/combined";
import { makeOutliner, type Outline } from "#lib/transcript/outline";

/** Larger messages are skipped; parsing them would block other requests. */
const maxMessageBytes = 1024 * 1024;
const page = { limit: 1000, maxBytes: 1024 * 1024, maxMessageBytes };

export const hasTooManyOutlines = (userId: string): boolean => hasTooMany(userId, "outline");

export async function readOutline(userId: string, traceId: string): Promise<Outline> {
  const end = await beginRead(userId, "outline");
  try {
    return await buildOutline(userId, traceId);
  } finally {
    end();
  }
}

async function buildOutline(userId: string, traceId: string): Promise<Outline> {
  const [trace, files] = await Promise.all([getTrace(userId, traceId), readFileSums(userId, traceId)]);
  const outliner = makeOutliner(trace);
  await visitMessages(userId, traceId, wholeRange, page, (message) => outliner.add(message));
  return { ...outliner.result(), ...files };
}

/** A second of work. */
const maxMasked = 32 * 1024 * 1024;

/**
 * Readers of a user's shared sessions wait for each other, and never delay the user.
 * @returns undefined if it is too long to be masked
 */
export async function readOutlineForOthers(
  userId: string,
  traceId: string,
  { masked, ...range }: SharedRange & { masked: boolean },
  mostMasked = maxMasked,
): Promise<Outline | undefined> {
  const end = await beginRead(userId, "sharedOutline");
  try {
    const trace = await getTrace(userId, traceId);
    const { source, metadata } = trace;
    const hide = makeHider(readHiddenNames(trace));
    const outliner = makeOutliner({ source, metadata: maskValueForOthers(metadata, (text) => hide(text)) });
    let left = mostMasked;
    await visitMessages(userId, traceId, range, page, (message) => {
      if (masked) left -= message.content.length;
      if (left < 0) return false;
      outliner.add(masked ? forOthers(message, hide) : message);
    });
    return left < 0 ? undefined : outliner.result();
  } finally {
    end();
  }
}

/** @throws SpoorError `overloaded` as `beginRead`, and an error that `isOverload` recognizes for a slow statement */
export async function readChanges(userId: string, traceId: string): Promise<Combined> {
  const end = await beginRead(userId, "outline");
  try {
    const combiner = makeCombiner(await getTrace(userId, traceId));
    await visitMessages(userId, traceId, wholeRange, page, (message) => combiner.add(message));
    return combiner.result();
  } finally {
    end();
  }
}
