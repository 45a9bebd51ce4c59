import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import type { ProjectLabels } from "../projects/rules.ts";
import { type AdapterInput, inputKey, type ParsedInput, type ProjectPart } from "./inputs.ts";
import { emptyStats } from "./parse-stats.ts";

/** To be raised whenever `ParsedInput` changes: what an older client counted is then ignored. */
const formatVersion = 5;

type IndexEntry = { stamp: string; version: number; found: ParsedInput };

/** What was found in each input by its stamp, so that a scan parses only what has changed. It may be deleted at any time. */
export class ScanIndex {
  readonly #path: string;
  readonly #known: Map<string, IndexEntry>;
  readonly #seen = new Map<string, IndexEntry>();
  #isDirty = false;

  private constructor(path: string, known: Map<string, IndexEntry>) {
    this.#path = path;
    this.#known = known;
  }

  static async open(host: Host): Promise<ScanIndex> {
    const path = join(stateFolder(host), "index.json");
    const found = await readJsonFile(path);
    const inputs = isFields(found) && found.version === formatVersion && isFields(found.inputs) ? found.inputs : {};
    return new ScanIndex(path, new Map(Object.entries(inputs) as [string, IndexEntry][]));
  }

  /**
   * What was found in an input that has not changed since; of one whose projects are all left out, also where it has changed.
   *
   * @param isLeftOut whether a project is left out by now
   */
  find(input: AdapterInput, isLeftOut: (labels: ProjectLabels) => boolean): ParsedInput | undefined {
    const key = inputKey(input);
    const entry = this.#known.get(key);
    if (entry?.version !== input.adapter.version) return undefined;
    const found = findLeftOutWhole(input, entry.found.projects, isLeftOut) ?? findUnchanged(entry, input, isLeftOut);
    if (found) this.#seen.set(key, { ...entry, found });
    return found;
  }

  /** The projects that were found when inputs were counted last. */
  projects(): ProjectPart[] {
    return [...this.#known.values()].flatMap(({ found }) => found.projects);
  }

  add(input: AdapterInput, found: ParsedInput): ParsedInput {
    this.#seen.set(inputKey(input), { stamp: input.stamp, version: input.adapter.version, found });
    this.#isDirty = true;
    return found;
  }

  /** @param isComplete whether every input was seen; then entries that were not are dropped */
  async save(isComplete: boolean): Promise<void> {
    if (!this.#isDirty && !(isComplete && this.#seen.size < this.#known.size)) return;
    const inputs = isComplete ? this.#seen : new Map([...this.#known, ...this.#seen]);
    await writeFileAtomically(
      this.#path,
      JSON.stringify({ version: formatVersion, inputs: Object.fromEntries(inputs) }),
    );
  }
}

/** What was found in an input, where neither that nor what is left out has changed. */
function findUnchanged(
  { stamp, found }: IndexEntry,
  input: AdapterInput,
  isLeftOut: (labels: ProjectLabels) => boolean,
): ParsedInput | undefined {
  const isSame = stamp === input.stamp && found.projects.every((one) => isLeftOut(one) === one.isLeftOut);
  return isSame ? found : undefined;
}

/** What is known of an input without reading it: its only project is left out. */
function findLeftOutWhole(
  { adapter, bytes }: AdapterInput,
  projects: ProjectPart[],
  isLeftOut: (labels: ProjectLabels) => boolean,
): ParsedInput | undefined {
  const [only] = projects;
  if (!only || projects.length > 1 || adapter.holdsAnySource || !isLeftOut(only)) return undefined;
  return { ...emptyStats(), projects: [{ ...only, sessions: 1, bytes, isLeftOut: true }] };
}
