import { type FieldError, SpoorError } from "#lib/core/errors";
import { fieldErrors, maxFieldErrors } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { ingestTrace, type SentTrace } from "#lib/ingest/schema";

export const invalidBatch = (errors: FieldError[]) =>
  new SpoorError("invalid_request", "The batch is not valid; see errors.", { errors: errors.slice(0, maxFieldErrors) });

/** Reports faults in the order in which they must be corrected. */
export class BatchFaults {
  readonly #fields: FieldError[] = [];
  readonly #repeated: FieldError[] = [];
  readonly #heavy: FieldError[] = [];
  readonly #long: FieldError[] = [];

  validate(index: number, sent: unknown): SentTrace | undefined {
    // zod's errors for five million invalid messages take 3 GB.
    if (this.#fields.length >= maxFieldErrors) return undefined;
    const parsed = ingestTrace.safeParse(sent);
    if (!parsed.success) {
      this.#fields.push(...fieldErrors(parsed.error, ["traces", index]));
      return undefined;
    }
    const trace = parsed.data;
    for (const at of repeatedPositions(trace)) {
      this.#repeated.push({ path: `traces.${index}.messages.${at}.position`, message: "occurs twice in its trace" });
    }
    if (hasHeavyMetadata(trace)) this.#heavy.push({ path: `traces.${index}.metadata`, message: heavyMetadata });
    return this.#fields.length + this.#repeated.length + this.#heavy.length > 0 ? undefined : trace;
  }

  /**
   * 300 kB of `1e308` become 15 MB without exponents; measured numbers never grow so much.
   * @param longest the message with most of the digits
   */
  checkDigits(index: number, { excessDigits, longest }: { excessDigits: number; longest: number }): void {
    if (excessDigits <= limits.ingest.addedDigitsPerTrace) return;
    this.#long.push({ path: `traces.${index}.messages.${longest}.metadata`, message: longNumbers });
  }

  throwIfAny(): void {
    const first = [this.#fields, this.#repeated, this.#heavy, this.#long].find(({ length }) => length > 0);
    if (first) throw invalidBatch(first);
  }
}

const heavyMetadata = `exceeds ${limits.trace.metadataBytes} bytes together with the trace's unknown fields`;
const longNumbers = "has numbers that are too long without exponents (summed over the trace); send them as text";

/** A list returns the metadata of two hundred traces. */
function hasHeavyMetadata({ messages: _messages, ...own }: SentTrace): boolean {
  const json = JSON.stringify(own);
  return Buffer.byteLength(json) + expandedDigits(json) > limits.trace.metadataBytes;
}

const expandedDigits = (json: string): number =>
  [...json.matchAll(/\de[+-](\d{1,3})(?!\d)/g)].reduce((sum, [, digits]) => sum + Number(digits), 0);

function repeatedPositions({ messages }: SentTrace): number[] {
  const seen = new Set<number>();
  return messages.flatMap(({ position }, index) => {
    if (seen.has(position)) return [index];
    seen.add(position);
    return [];
  });
}
