// Values that something beside them told to be secrets, wherever else they stand in the same session.
import { isCredible } from "#lib/secrets/credible";
import { unreadKind } from "#lib/secrets/effort";
import { kinds } from "#lib/secrets/kinds";
import { changeTexts, type Deep } from "#lib/secrets/mask";

/** Kinds that are known by what stands beside them alone. */
const besides = new Set(kinds.filter(({ forms, id }) => forms.length === 0 && id !== unreadKind).map(({ id }) => id));
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
  without<T>(value: T, deep?: Deep): T {
    if (!this.areSome) return value;
    return changeTexts(value, (text) => this.#hide(text), deep);
  }

  #hide(text: string): string {
    let shown = text;
    for (const [value, placeholder] of this.#placeholders)
      if (shown.includes(value)) shown = shown.replaceAll(value, placeholder);
    return shown;
  }
}
