import "server-only";
import { beginRead, hasTooMany } from "#lib/db/heavy";
import { makeOutliner, type Outline } from "#lib/reader/outline";
import { maskValueForOthers } from "#lib/secrets/mask";
import { readFileSums } from "#lib/traces/files";
import { forOthers, type Range, readHiddenNames, wholeRange } from "#lib/traces/for-others";
import { hideAll } from "#lib/traces/masked";
import { visitMessages } from "#lib/traces/messages";
import { getTrace } from "#lib/traces/queries";

/** What a larger message did is left out: understanding it takes too long at a stretch. */
const maxMessageBytes = 1024 * 1024;
const page = { limit: 1000, maxBytes: 1024 * 1024, maxMessageBytes };

/** Whether so many outlines of a user wait that another one would be refused. */
export const hasTooManyOutlines = (userId: string): boolean => hasTooMany(userId, "outline");

/**
 * The outline of a whole trace. Its files are those of the ledger, and until that has counted them, of the messages.
 *
 * @throws SpoorError `overloaded` as `beginRead`, and an error that `isOverload` knows for a statement that takes too long
 */
export async function readOutline(userId: string, traceId: string): Promise<Outline> {
  const end = await beginRead(userId, "outline");
  try {
    return await outlineOf(userId, traceId);
  } finally {
    end();
  }
}

async function outlineOf(userId: string, traceId: string): Promise<Outline> {
  const [trace, files] = await Promise.all([getTrace(userId, traceId), readFileSums(userId, traceId)]);
  const outliner = makeOutliner(trace);
  await visitMessages(userId, traceId, wholeRange, page, (message) => outliner.add(message));
  return { ...outliner.result(), ...files };
}

/** So many characters are masked for an outline, a second of work. */
const maxMasked = 32 * 1024 * 1024;

/**
 * The outline of what others see of a trace, of whose files only those messages tell.
 *
 * @returns undefined where it is too long to be masked for an outline
 * @throws as `readOutline`; those who read a user's shared sessions wait for each other, never the user for them
 */
export async function readOutlineForOthers(
  userId: string,
  traceId: string,
  { masked, ...range }: Range & { masked: boolean },
  mostMasked = maxMasked,
): Promise<Outline | undefined> {
  const end = await beginRead(userId, "sharedOutline");
  try {
    const trace = await getTrace(userId, traceId);
    const { source, metadata } = trace;
    const hide = hideAll(readHiddenNames(trace));
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
