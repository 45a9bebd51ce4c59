import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { isFields } from "../files/json-lines.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import { type AdapterInput, inputKey } from "./inputs.ts";
import type { ParseStats } from "./parse-stats.ts";

type Entry = { stamp: string; version: number; tally: ParseStats };

/**
 * What was counted in each input, by the input's stamp: a scan of files that have not changed reads none of them. It may be
 * deleted at any time.
 */
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
    const inputs = isFields(found) && found.version === 1 && isFields(found.inputs) ? found.inputs : {};
    return new ScanIndex(path, new Map(Object.entries(inputs) as [string, Entry][]));
  }

  /** What was counted in an input as it is now. */
  tallyOf(found: AdapterInput): ParseStats | undefined {
    const entry = this.#known.get(inputKey(found));
    if (entry?.stamp !== found.stamp || entry.version !== found.adapter.version) return undefined;
    this.#seen.set(inputKey(found), entry);
    return entry.tally;
  }

  note(found: AdapterInput, tally: ParseStats): ParseStats {
    this.#seen.set(inputKey(found), { stamp: found.stamp, version: found.adapter.version, tally });
    this.#isDirty = true;
    return tally;
  }

  /** @param isWhole whether all there is was looked at: what was not seen is gone then */
  async save(isWhole: boolean): Promise<void> {
    if (!this.#isDirty && !(isWhole && this.#seen.size < this.#known.size)) return;
    const inputs = isWhole ? this.#seen : new Map([...this.#known, ...this.#seen]);
    await writeFileAtomically(this.#path, JSON.stringify({ version: 1, inputs: Object.fromEntries(inputs) }));
  }
}
