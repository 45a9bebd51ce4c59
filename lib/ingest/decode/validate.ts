// Runs in the decoding thread: validates the traces of a batch. Pure functions, no database, no environment.
import { type FieldError, SpoorError } from "#lib/errors";
import { fieldErrors, maxFieldErrors } from "#lib/fields";
import { ingestTrace, type SentTrace } from "#lib/ingest/schema";
import { limits } from "#lib/limits";

/** The error of a batch that has some faults, of which the first 20 are told. */
export const invalidBatch = (errors: FieldError[]) =>
  new SpoorError("invalid_request", "The batch is not valid; see errors.", { errors: errors.slice(0, maxFieldErrors) });

/** The faults of a batch's traces, by what has to be mended first. */
export class BatchFaults {
  readonly #fields: FieldError[] = [];
  readonly #repeated: FieldError[] = [];
  readonly #heavy: FieldError[] = [];
  readonly #long: FieldError[] = [];

  /** @returns the trace, or undefined where it, or one before it, is not valid */
  validate(index: number, sent: unknown): SentTrace | undefined {
    // zod reports every error: of five million invalid messages they take 3 GB.
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
   * Checks the numbers in the metadata of a trace's messages: 300 kB of `1e308` become 15 MB once PostgreSQL has written them
   * without exponents, which each reading of the trace would write out. Numbers that are measured never gain so much.
   *
   * @param longest the message that has most of the digits
   */
  checkDigits(index: number, { excessDigits, longest }: { excessDigits: number; longest: number }): void {
    if (excessDigits <= limits.ingest.addedDigitsPerTrace) return;
    this.#long.push({ path: `traces.${index}.messages.${longest}.metadata`, message: longNumbers });
  }

  /** @throws SpoorError `invalid_request` with the paths of the faults */
  throwIfAny(): void {
    const first = [this.#fields, this.#repeated, this.#heavy, this.#long].find(({ length }) => length > 0);
    if (first) throw invalidBatch(first);
  }
}

const heavyMetadata = `has more than ${limits.trace.metadataBytes} bytes with the trace's unknown fields`;
const longNumbers =
  "has numbers that are too long without their exponents, with those of the trace's other messages; send them as texts";

/** Whether a trace's metadata exceeds its limit: a list returns the metadata of two hundred traces. */
function hasHeavyMetadata({ messages: _messages, ...own }: SentTrace): boolean {
  const json = JSON.stringify(own);
  return Buffer.byteLength(json) + expandedDigits(json) > limits.trace.metadataBytes;
}

/** How many digits PostgreSQL adds, which writes no exponents: 258 kB of `1e308` become 13 MB, half a second to read. */
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
