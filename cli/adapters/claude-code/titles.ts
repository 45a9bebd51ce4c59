import type { Fields } from "../../files/json.ts";
import { asString, dropOldest } from "../values.ts";

const maxSummaries = 1000;

export type SavedTitles = {
  given?: string;
  name?: string;
  generated?: string;
  summary?: string;
  lastUuid?: string;
  awaited: [string, string][];
  late: [string, string][];
};

/** A summary's line may be earlier, later or in another file: new files begin with summaries of earlier sessions. */
export class TitleChooser {
  #given: string | undefined;
  #name: string | undefined;
  #generated: string | undefined;
  #summary: string | undefined;
  #lastUuid: string | undefined;
  /** Lines that may still come, and lines that may have been before. */
  readonly #awaited: Map<string, string>;
  readonly #late: Map<string, string>;
  readonly #elsewhere: ReadonlyMap<string, string>;

  /** @param elsewhere summaries in other files, by the lines that they name */
  constructor(elsewhere: ReadonlyMap<string, string>, saved?: SavedTitles) {
    this.#elsewhere = elsewhere;
    this.#given = saved?.given;
    this.#name = saved?.name;
    this.#generated = saved?.generated;
    this.#summary = saved?.summary;
    this.#lastUuid = saved?.lastUuid;
    this.#awaited = new Map(saved?.awaited);
    this.#late = new Map(saved?.late);
  }

  save(): SavedTitles {
    return {
      ...(this.#given && { given: this.#given }),
      ...(this.#name && { name: this.#name }),
      ...(this.#generated && { generated: this.#generated }),
      ...(this.#summary && { summary: this.#summary }),
      ...(this.#lastUuid && { lastUuid: this.#lastUuid }),
      awaited: [...this.#awaited],
      late: [...this.#late],
    };
  }

  read(record: Fields): boolean {
    switch (record.type) {
      case "custom-title":
        this.#given = asString(record.customTitle) ?? this.#given;
        return true;
      case "agent-name":
        this.#name = asString(record.agentName) ?? this.#name;
        return true;
      case "ai-title":
        this.#generated = asString(record.aiTitle) ?? this.#generated;
        return true;
      case "summary":
        this.#readSummary(record);
        return true;
      default:
        return false;
    }
  }

  /** Versions without `custom-title` show a new name only in a command's output. */
  readOutput(text: string): void {
    const [, name] = /^<local-command-stdout>Session renamed to: (.+)<\/local-command-stdout>/.exec(text) ?? [];
    this.#given = asString(name?.trim()) ?? this.#given;
  }

  #readSummary({ summary, leafUuid }: Fields): void {
    if (typeof summary !== "string" || summary === "" || typeof leafUuid !== "string") return;
    if (leafUuid === this.#lastUuid) {
      this.#summary = summary;
      return;
    }
    this.#awaited.set(leafUuid, summary);
    if (this.#lastUuid !== undefined) this.#late.set(leafUuid, summary);
    dropOldest(this.#awaited, maxSummaries);
    dropOldest(this.#late, maxSummaries);
  }

  noteLine(uuid: string): void {
    this.#lastUuid = uuid;
    // A lookup in a map reads all of an id, which takes noticeable time.
    if (this.#awaited.size === 0 && this.#elsewhere.size === 0) return;
    const summary = this.#awaited.get(uuid) ?? this.#elsewhere.get(uuid);
    if (summary === undefined) return;
    this.#summary = summary;
    this.#late.delete(uuid);
  }

  /** A summary names these lines, and there is no better title. */
  listMissingLines(): ReadonlySet<string> {
    return new Set(this.#given || this.#name || this.#generated ? [] : this.#late.keys());
  }

  noteFoundLines(uuids: ReadonlySet<string>): void {
    for (const [uuid, summary] of this.#late) if (uuids.has(uuid)) this.#summary = summary;
    this.#late.clear();
  }

  choose(title?: string, description?: string): string | undefined {
    return title ?? this.#given ?? this.#name ?? this.#generated ?? this.#summary ?? description;
  }
}
