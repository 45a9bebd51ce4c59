import type { Adapter, Host, Input } from "../adapters/adapter.ts";
import { adapters } from "../adapters/registry.ts";
import { CommandError } from "../errors.ts";
import { isForbidden } from "../files/discovery.ts";
import { HttpError } from "../server/api.ts";
import { Collector, type Writing } from "./collector.ts";
import { countInvalid, countUnhandledType, emptyStats, type ParseStats } from "./parse-stats.ts";

/** An input with the adapter that parses it. */
export type AdapterInput = Input & { adapter: Adapter };

/** An input's key among those of all adapters. */
export const inputKey = ({ adapter, path }: AdapterInput): string => `${adapter.name}:${path}`;

/** Every input on this machine. @param wanted selects adapters */
export async function* findInputs(host: Host, wanted: (adapter: Adapter) => boolean): AsyncGenerator<AdapterInput> {
  for (const adapter of adapters.filter(wanted)) {
    for await (const input of adapter.discover(host)) yield { ...input, adapter };
  }
}

type ParseOptions = {
  /** Without it, sessions are only counted. */
  writing?: Writing;
  pause?(): Promise<void>;
};

/**
 * Parses one input. Problems with it are in the stats and never thrown.
 *
 * @throws CommandError and HttpError of `writing` and `pause`
 */
export async function parseInput(input: AdapterInput, { writing, pause }: ParseOptions = {}): Promise<ParseStats> {
  const { adapter, path } = input;
  const stats = emptyStats();
  stats.inputs = 1;
  stats.bytes = input.bytes;
  let line: number | undefined;
  const collector = new Collector(
    {
      done(messages) {
        stats.sessions++;
        stats.messages += messages;
      },
      left: (left) => void stats.left.push(left),
      lost: (reason, sourceId = path) => void stats.left.push({ source: adapter.name, sourceId, reason }),
      entry(at) {
        stats.entries++;
        line = at;
      },
      skipped: () => void stats.skipped++,
      invalid: (reason = "not in the expected format") =>
        countInvalid(stats, () => `${path}${line === undefined ? "" : `:${line}`}: ${reason}`),
      unhandled: (type) => countUnhandledType(stats, type),
      pause: async () => pause?.(),
    },
    writing,
  );
  try {
    await adapter.parse(input, collector);
  } catch (error) {
    if (error instanceof CommandError || error instanceof HttpError) throw error;
    // A file deleted since it was found is not missed.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return stats;
    const reason = isForbidden(error) ? "permission denied" : `it can't be read: ${(error as Error).message}`;
    stats.left.push({ source: adapter.name, sourceId: path, reason });
  }
  return stats;
}
