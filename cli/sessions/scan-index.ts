import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import { type AdapterInput, inputKey } from "./inputs.ts";
import type { ParseStats } from "./parse-stats.ts";

/** To be raised whenever `ParseStats` changes: what an older client counted is then ignored. */
const formatVersion = 2;

type Entry = { stamp: string; version: number; stats: ParseStats };

/** The stats of each input by its stamp, so that a scan parses only what has changed. It may be deleted at any time. */
export class ScanIndex {
  readonly #path: string;
  readonly #known: Map<string, Entry>;
  readonly #seen = new Map<string, Entry>();
  #isDirty = false;

  private constructor(path: string, known: Map<string, Entry>) {
    this.#path = path;
    this.#known = known;
  }

  static async open(host: Host): Promise<ScanIndex> {
    const path = join(stateFolder(host), "index.json");
    const found = await readJsonFile(path);
    const inputs = isFields(found) && found.version === formatVersion && isFields(found.inputs) ? found.inputs : {};
    return new ScanIndex(path, new Map(Object.entries(inputs) as [string, Entry][]));
  }

  /** The stats of an input that has not changed since they were added. */
  statsOf(input: AdapterInput): ParseStats | undefined {
    const key = inputKey(input);
    const entry = this.#known.get(key);
    if (entry?.stamp !== input.stamp || entry.version !== input.adapter.version) return undefined;
    this.#seen.set(key, entry);
    return entry.stats;
  }

  add(input: AdapterInput, stats: ParseStats): ParseStats {
    this.#seen.set(inputKey(input), { stamp: input.stamp, version: input.adapter.version, stats });
    this.#isDirty = true;
    return stats;
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
