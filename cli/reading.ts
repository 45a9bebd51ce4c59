import type { Adapter, Input, Place } from "./adapters/adapter.ts";
import { adapters } from "./adapters/all.ts";
import { Refusal } from "./api.ts";
import { Failure } from "./failure.ts";
import { isAbsent } from "./files.ts";
import type { Packer } from "./packing.ts";
import { type Bounds, Collector, type Session } from "./session.ts";
import { countType, emptyTally, type Tally } from "./tally.ts";

/** An input, and the adapter that reads it. */
export type Found = Input & { adapter: Adapter };

/** A name for an input among those of all adapters. */
export const nameOf = ({ adapter, path }: Found): string => `${adapter.name}:${path}`;

/** Everything that the adapters find in a place. @param wanted says which adapters are asked */
export async function* findInputs(place: Place, wanted: (adapter: Adapter) => boolean): AsyncGenerator<Found> {
  for (const adapter of adapters.filter(wanted)) {
    for await (const input of adapter.discover(place)) yield { ...input, adapter };
  }
}

type Use = {
  bounds: Bounds;
  /** Where it is given, sessions are made; otherwise they are counted. */
  packer?: Packer;
  onSession?(session: Session): void;
  pause?(): Promise<void>;
};

/**
 * Reads one input. What goes wrong with it is in the tally, by name; nothing of it is thrown.
 *
 * @throws Failure and Refusal, of `onSession` and `pause`: they are not the input's
 */
export async function readInput(found: Found, { bounds, packer, onSession, pause }: Use): Promise<Tally> {
  const tally = emptyTally();
  tally.inputs = 1;
  tally.bytes = found.bytes;
  const collector = new Collector(
    {
      done({ messages }, session) {
        tally.sessions++;
        tally.messages += messages;
        if (session) onSession?.(session);
      },
      left: (left) => void tally.left.push(left),
      lost: (reason, sourceId = found.path) => void tally.left.push({ source: found.adapter.name, sourceId, reason }),
      entry: () => void tally.entries++,
      skipped: () => void tally.skipped++,
      invalid: () => void tally.invalid++,
      unhandled: (type) => countType(tally, type),
      pause: async () => pause?.(),
    },
    bounds,
    packer,
  );
  try {
    await found.adapter.parse(found, collector);
  } catch (error) {
    if (error instanceof Failure || error instanceof Refusal) throw error;
    // A file that was deleted in between is nobody's loss; one that can't be read is named.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return tally;
    const reason = isAbsent(error) ? "it may not be read" : `it could not be read: ${(error as Error).message}`;
    tally.left.push({ source: found.adapter.name, sourceId: found.path, reason });
  }
  return tally;
}
