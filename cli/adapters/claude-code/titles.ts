import type { Fields } from "../../files/json.ts";
import { asString } from "../values.ts";

/** Of the summaries that name a line still to come, so many are kept. */
const maxSummaries = 1000;

/** What is known of a session's title, as JSON. */
export type SavedTitles = {
  given?: string;
  name?: string;
  generated?: string;
  summary?: string;
  lastUuid?: string;
  awaited: [string, string][];
  late: [string, string][];
};

/**
 * A session's title: the one that the user gave, else the session's name, else a generated one, else a summary of it. Of each
 * kind the latest counts, since Claude Code writes them again and again.
 *
 * A summary names a line by its id. That line may stand before it, after it, or in another file: a new session's file begins
 * with the summaries of the sessions before.
 */
export class Titles {
  #given: string | undefined;
  #name: string | undefined;
  #generated: string | undefined;
  #summary: string | undefined;
  #lastUuid: string | undefined;
  /** Summaries by the lines that they name: lines that may still come, and lines that may have been before. */
  readonly #awaited: Map<string, string>;
  readonly #late: Map<string, string>;
  readonly #elsewhere: ReadonlyMap<string, string>;

  /** @param elsewhere summaries in other files, by the lines that they name @param saved what `save` returned */
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

  /** Reads a line that may hold a title. @returns whether it is of such a type */
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

  /** Reads what a command of the user's printed: versions without `custom-title` tell a new name only there. */
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
    for (const map of [this.#awaited, this.#late])
      if (map.size > maxSummaries) map.delete(map.keys().next().value ?? "");
  }

  /** Notes a line of the session. */
  sawLine(uuid: string): void {
    this.#lastUuid = uuid;
    // A look into a map reads all of an id, which was 1 % of a scan.
    if (this.#awaited.size === 0 && this.#elsewhere.size === 0) return;
    const summary = this.#awaited.get(uuid) ?? this.#elsewhere.get(uuid);
    if (summary === undefined) return;
    this.#summary = summary;
    this.#late.delete(uuid);
  }

  /** The lines that must be looked for in what was already read, since a summary names them and there is no better title. */
  linesToFind(): ReadonlySet<string> {
    return new Set(this.#given || this.#name || this.#generated ? [] : this.#late.keys());
  }

  /** Notes which of those lines are in the file. */
  foundLines(uuids: ReadonlySet<string>): void {
    for (const [uuid, summary] of this.#late) if (uuids.has(uuid)) this.#summary = summary;
    this.#late.clear();
  }

  /** @param title of what recorded the session @param description of what it was started for */
  choose(title?: string, description?: string): string | undefined {
    return title ?? this.#given ?? this.#name ?? this.#generated ?? this.#summary ?? description;
  }
}
