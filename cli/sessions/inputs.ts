import type { Adapter, Host, Input } from "../adapters/adapter.ts";
import { forgetPictures } from "../adapters/pictures.ts";
import { adapters } from "../adapters/registry.ts";
import { CommandError } from "../errors.ts";
import { isForbidden } from "../files/discovery.ts";
import { findDuring, type Search } from "../files/search.ts";
import type { ProjectLabels } from "../projects/rules.ts";
import { addCounts, type SecretCounts } from "../redact/masker.ts";
import { HttpError } from "../server/api.ts";
import { Collector, type Writing } from "./collector.ts";
import { countInvalid, countUnhandledType, emptyStats, type ParseStats, type PictureBytes } from "./parse-stats.ts";
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

type ParseOptions = {
  isLeftOut?(labels: ProjectLabels): boolean;
  writing?: Writing;
  pause?(): Promise<void>;
};

/**
 * Parses one input; its problems are in the stats and never thrown.
 *
 * @throws CommandError and HttpError of `writing` and `pause`
 */
export async function parseInput(
  input: AdapterInput,
  { isLeftOut = () => false, writing, pause }: ParseOptions = {},
): Promise<ParsedInput> {
  const { adapter, path } = input;
  const stats = emptyStats();
  stats.inputs = 1;
  stats.bytes = input.bytes;
  const projects = new ProjectParts(input.bytes);
  let line: number | undefined;
  const collector = new Collector(
    {
      done({ messages, chars, labels, secrets, pictures }) {
        stats.sessions++;
        stats.messages += messages;
        projects.add(labels, { chars, secrets, pictures });
      },
      leftOut: (labels) => projects.leaveOut({ source: adapter.name, ...labels }),
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
    isLeftOut,
    writing,
  );
  try {
    await adapter.parse(input, collector);
  } catch (error) {
    if (collector.hasEnded) return { ...emptyStats(), projects: projects.list() };
    if (error instanceof CommandError || error instanceof HttpError) throw error;
    // A deleted file is not reported; it may return with a moved folder or a disk.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { ...stats, projects: [], isGone: true };
    const reason = isForbidden(error) ? "permission denied" : `it can't be read: ${(error as Error).message}`;
    stats.left.push({ source: adapter.name, sourceId: path, reason });
  } finally {
    forgetPictures();
  }
  return collector.hasEnded ? { ...emptyStats(), projects: projects.list() } : { ...stats, projects: projects.list() };
}

class ProjectParts {
  readonly #bytes: number;
  readonly #parts = new Map<string, ProjectPart & { chars: number }>();

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  add(
    { source, cwd, project }: SessionLabels,
    { chars, secrets, pictures }: { chars: number; secrets: SecretCounts; pictures: PictureBytes },
  ): void {
    const part = this.#getPart({ source, cwd, project }, false);
    addCounts(part.secrets, secrets);
    Object.assign(part.pictures, pictures);
    part.sessions++;
    part.chars += chars;
  }

  leaveOut({ source, cwd, project }: SessionLabels): void {
    this.#getPart({ source, cwd, project }, true).sessions++;
  }

  #getPart(labels: SessionLabels, isLeftOut: boolean) {
    const key = JSON.stringify([labels.source, labels.cwd, labels.project, isLeftOut]);
    const part = this.#parts.get(key) ?? {
      ...labels,
      sessions: 0,
      bytes: 0,
      chars: 0,
      secrets: {},
      pictures: {},
      isLeftOut,
    };
    this.#parts.set(key, part);
    return part;
  }

  list(): ProjectPart[] {
    const parts = [...this.#parts.values()];
    const chars = parts.reduce((sum, part) => sum + part.chars, 0);
    const share = (part: { chars: number }) => (chars > 0 ? part.chars / chars : 1 / parts.length);
    return parts.map(({ chars: length, ...part }) => ({
      ...part,
      bytes: Math.round(this.#bytes * share({ chars: length })),
    }));
  }
}
