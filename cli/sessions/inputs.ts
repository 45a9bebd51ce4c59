import type { Adapter, Host, Input } from "../adapters/adapter.ts";
import { forgetPictures } from "../adapters/pictures.ts";
import { adapters } from "../adapters/registry.ts";
import { CommandError } from "../errors.ts";
import { isForbidden } from "../files/discovery.ts";
import { findDuring, type Search } from "../files/search.ts";
import type { ProjectLabels } from "../projects/rules.ts";
import type { SecretCounts } from "../redact/masker.ts";
import { HttpError } from "../server/api.ts";
import { Collector, type Writing } from "./collector.ts";
import { emptyStats, type ParseStats, type PictureBytes } from "./parse-stats.ts";
import type { SessionLabels } from "./session.ts";

export type AdapterInput = Input & { adapter: Adapter };

export const inputKey = ({ adapter, path }: AdapterInput): string => `${adapter.name}:${path}`;

export type Searches = ReadonlyMap<string, Search>;

export async function* findInputs(
  host: Host,
  wanted: (adapter: Adapter) => boolean,
  searches?: Searches,
): AsyncGenerator<AdapterInput> {
  for (const adapter of adapters.filter(wanted)) {
    const search = searches?.get(adapter.name);
    if (searches && !search) continue;
    for await (const input of findDuring(search, adapter.discover(host))) yield { ...input, adapter };
  }
}

export type ProjectPart = SessionLabels & {
  sessions: number;
  /** The input's bytes, divided by the length of the projects' texts. */
  bytes: number;
  secrets: SecretCounts;
  pictures: PictureBytes;
  isLeftOut: boolean;
};

export type ParsedInput = ParseStats & {
  projects: ProjectPart[];
  isGone?: true;
};

export type ParseOptions = {
  isLeftOut?(labels: ProjectLabels): boolean;
  writing?: Writing;
  pause?(): Promise<void>;
};

/**
 * The stats have the input's problems, which are never thrown.
 *
 * @throws CommandError and HttpError of `writing` and `pause`
 */
export async function parseInput(input: AdapterInput, options: ParseOptions = {}): Promise<ParsedInput> {
  const { adapter, path } = input;
  const collector = new Collector(input, options);
  const { stats } = collector;
  try {
    await adapter.parse(input, collector);
  } catch (error) {
    if (collector.hasEnded) return { ...emptyStats(), projects: collector.listProjects() };
    if (error instanceof CommandError || error instanceof HttpError) throw error;
    // A deleted file is not reported; it may return with a moved folder or a disk.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { ...stats, projects: [], isGone: true };
    const reason = isForbidden(error) ? "permission denied" : `it can't be read: ${(error as Error).message}`;
    stats.left.push({ source: adapter.name, sourceId: path, reason });
  } finally {
    forgetPictures();
  }
  return { ...(collector.hasEnded ? emptyStats() : stats), projects: collector.listProjects() };
}
