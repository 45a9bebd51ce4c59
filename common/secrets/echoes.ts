import { escapePattern } from "#common/escape-pattern";
import { isCredible } from "#common/secrets/credible";
import { unreadKind } from "#common/secrets/effort";
import { kinds, marks } from "#common/secrets/kinds";
import { changeTexts, type DeepValues } from "#common/secrets/mask";

/** Only their context identifies secrets of these kinds. */
const contextKinds = new Set(
  kinds.filter(({ forms, id }) => forms.length === 0 && id !== unreadKind).map(({ id }) => id),
);
const maxEchoes = 200;

/** Masks values that their context identified as secrets wherever else they occur in the same session. */
export class Echoes {
  readonly #placeholders = new Map<string, string>();

  see(kind: string, value: string, placeholder: string): void {
    if (this.#placeholders.size >= maxEchoes || !contextKinds.has(kind) || !isCredible(value)) return;
    this.#placeholders.set(value, placeholder);
  }

  get areSome(): boolean {
    return this.#placeholders.size > 0;
  }

  without<T>(value: T, deep?: DeepValues): T {
    if (!this.areSome) return value;
    return changeTexts(value, (text) => this.#hide(text), deep);
  }

  /** All at once, since a value may be a part of another one's placeholder. */
  #hide(text: string): string {
    const values = [...this.#placeholders.keys()].filter((value) => text.includes(value));
    if (values.length === 0) return text;
    const longestFirst = values.sort((one, other) => other.length - one.length).map(escapePattern);
    const all = new RegExp(`${marks.source}|${longestFirst.join("|")}`, "g");
    return text.replaceAll(all, (found) => this.#placeholders.get(found) ?? found);
  }
}
