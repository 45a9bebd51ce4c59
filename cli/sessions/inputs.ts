import type { Adapter, Host, Input } from "../adapters/adapter.ts";
import { adapters } from "../adapters/registry.ts";
import { CommandError } from "../errors.ts";
import { isMissingOrForbidden } from "../files/discovery.ts";
import { HttpError } from "../server/api.ts";
import type { Compressor } from "../sync/compression.ts";
import { countUnhandledType, emptyStats, type ParseStats } from "./parse-stats.ts";
import { type Bounds, Collector, type Session } from "./session.ts";

/** An input, and the adapter that reads it. */
export type AdapterInput = Input & { adapter: Adapter };

/** A name for an input among those of all adapters. */
export const inputKey = ({ adapter, path }: AdapterInput): string => `${adapter.name}:${path}`;

/** Everything that the adapters find in a place. @param wanted says which adapters are asked */
export async function* findInputs(host: Host, wanted: (adapter: Adapter) => boolean): AsyncGenerator<AdapterInput> {
  for (const adapter of adapters.filter(wanted)) {
    for await (const input of adapter.discover(host)) yield { ...input, adapter };
  }
}

type Use = {
  bounds: Bounds;
  /** Where it is given, sessions are made; otherwise they are counted. */
  compressor?: Compressor;
  onSession?(session: Session): void;
  pause?(): Promise<void>;
};

/**
 * Reads one input. What goes wrong with it is in the tally, by name; nothing of it is thrown.
 *
 * @throws Failure and Refusal, of `onSession` and `pause`: they are not the input's
 */
export async function readInput(
  found: AdapterInput,
  { bounds, compressor, onSession, pause }: Use,
): Promise<ParseStats> {
  const tally = emptyStats();
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
      unhandled: (type) => countUnhandledType(tally, type),
      pause: async () => pause?.(),
    },
    bounds,
    compressor,
  );
  try {
    await found.adapter.parse(found, collector);
  } catch (error) {
    if (error instanceof CommandError || error instanceof HttpError) throw error;
    // A file that was deleted in between is nobody's loss; one that can't be read is named.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return tally;
    const reason = isMissingOrForbidden(error)
      ? "it may not be read"
      : `it could not be read: ${(error as Error).message}`;
    tally.left.push({ source: found.adapter.name, sourceId: found.path, reason });
  }
  return tally;
}
