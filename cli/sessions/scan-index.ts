import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import type { ProjectLabels } from "../projects/rules.ts";
import { type AdapterInput, inputKey, type ParsedInput, type ProjectPart } from "./inputs.ts";
import { emptyStats } from "./parse-stats.ts";

/** Must be increased whenever `ParsedInput` changes, to invalidate older counts. */
const formatVersion = 5;

type IndexEntry = { stamp: string; version: number; found: ParsedInput };

/** A scan parses only what changed. The index may be deleted at any time. */
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

  /** Finds the counts of an unchanged input, or of one whose only project is left out. */
  find(input: AdapterInput, isLeftOut: (labels: ProjectLabels) => boolean): ParsedInput | undefined {
    const key = inputKey(input);
    const entry = this.#known.get(key);
    if (entry?.version !== input.adapter.version) return undefined;
    const found = findLeftOutWhole(input, entry.found.projects, isLeftOut) ?? findUnchanged(entry, input, isLeftOut);
    if (found) this.#seen.set(key, { ...entry, found });
    return found;
  }

  projects(): ProjectPart[] {
    return [...this.#known.values()].flatMap(({ found }) => found.projects);
  }

  add(input: AdapterInput, found: ParsedInput): ParsedInput {
    this.#seen.set(inputKey(input), { stamp: input.stamp, version: input.adapter.version, found });
    this.#isDirty = true;
    return found;
  }

  async save(isComplete: boolean): Promise<void> {
    if (!this.#isDirty && !(isComplete && this.#seen.size < this.#known.size)) return;
    const inputs = isComplete ? this.#seen : new Map([...this.#known, ...this.#seen]);
    await writeFileAtomically(
      this.#path,
      JSON.stringify({ version: formatVersion, inputs: Object.fromEntries(inputs) }),
    );
  }
}

function findUnchanged(
  { stamp, found }: IndexEntry,
  input: AdapterInput,
  isLeftOut: (labels: ProjectLabels) => boolean,
): ParsedInput | undefined {
  const isSame = stamp === input.stamp && found.projects.every((one) => isLeftOut(one) === one.isLeftOut);
  return isSame ? found : undefined;
}

function findLeftOutWhole(
  { adapter, bytes }: AdapterInput,
  projects: ProjectPart[],
  isLeftOut: (labels: ProjectLabels) => boolean,
): ParsedInput | undefined {
  const [only] = projects;
  if (!only || projects.length > 1 || adapter.holdsAnySource || !isLeftOut(only)) return undefined;
  return { ...emptyStats(), projects: [{ ...only, sessions: 1, bytes, isLeftOut: true }] };
}
