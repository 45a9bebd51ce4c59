// Values that something beside them told to be secrets, wherever else they stand in the same session.
import { isCredible } from "#lib/secrets/credible";
import { unreadKind } from "#lib/secrets/effort";
import { kinds } from "#lib/secrets/kinds";
import { marks } from "#lib/secrets/mark";
import { changeTexts, type DeepValues } from "#lib/secrets/mask";

/** Kinds that are known by what stands beside them alone. */
const besides = new Set(kinds.filter(({ forms, id }) => forms.length === 0 && id !== unreadKind).map(({ id }) => id));
/** `RegExp.escape` is missing in Node 20, on which the client runs. */
const escaped = (value: string): string => value.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
/** So many values are looked for. */
const maxEchoes = 200;

export class Echoes {
  /** What takes the place of each value. */
  readonly #placeholders = new Map<string, string>();

  /** Notes a value that was masked, where only what stood beside it told that it is a secret. */
  see(kind: string, value: string, placeholder: string): void {
    if (this.#placeholders.size >= maxEchoes || !besides.has(kind) || !isCredible(value)) return;
    this.#placeholders.set(value, placeholder);
  }

  /** Whether values were noted that may stand elsewhere, where they can't be told from other words. */
  get areSome(): boolean {
    return this.#placeholders.size > 0;
  }

  /** A value of JSON without what was noted so far. */
  without<T>(value: T, deep?: DeepValues): T {
    if (!this.areSome) return value;
    return changeTexts(value, (text) => this.#hide(text), deep);
  }

  /** All at once: a value may be a part of what stands for another one, and would be looked for in that, and so on. */
  #hide(text: string): string {
    const values = [...this.#placeholders.keys()].filter((value) => text.includes(value));
    if (values.length === 0) return text;
    const longestFirst = values.sort((one, other) => other.length - one.length).map(escaped);
    const all = new RegExp(`${marks.source}|${longestFirst.join("|")}`, "g");
    return text.replaceAll(all, (found) => this.#placeholders.get(found) ?? found);
  }
}
