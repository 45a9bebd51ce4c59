// Runs in the decoding thread: reads a batch in the quick way, or where that can't be in the careful one.
import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { notPlain } from "#lib/ingest/decode/json-cursor";
import {
  type Manifest,
  ManifestMaker,
  type RowsOfTrace,
  readCarefully,
  rowsOfTrace,
  type TraceHeader,
} from "#lib/ingest/decode/manifest";
import { MessageRows } from "#lib/ingest/decode/message-rows";
import { hasHeavyMetadata } from "#lib/ingest/decode/parser";
import { type Place, type ScannedTrace, Scanner } from "#lib/ingest/decode/scanner";
import { type Survey, surveyRows } from "#lib/ingest/decode/survey";
import { ingestTrace, type SentTrace } from "#lib/ingest/schema";
import { limits } from "#lib/limits";
import { Masker, type Policy } from "#lib/masking/masker";

/** Masks the traces of the quick reading. */
export type Reviser = {
  policy: Policy;
  /**
   * Is shown each trace: what it was sent with, whether its rows hold something to mask, and where it stands in the body.
   *
   * @returns what stands there instead from then on, if that is something else.
   */
  revise(sent: SentTrace, hasSecret: boolean, place: Place): Uint8Array | undefined;
};

/**
 * Reads and validates a decoded batch.
 *
 * @throws SpoorError as `parseBatch`
 */
export function readBatch(bytes: Uint8Array, reviser?: Reviser): Manifest {
  try {
    return readPlain(bytes, reviser);
  } catch (error) {
    if (error !== notPlain) throw error;
    return readCarefully(bytes);
  }
}

/** How many bytes are read in one turn of the event loop. */
const turnBytes = 1 << 20;

/**
 * As `readBatch`, but yields to the event loop regularly.
 *
 * @param turn is called before that, with the offset up to which the quick reading has come.
 */
export async function readBatchInTurns(
  bytes: Uint8Array,
  reviser: Reviser | undefined,
  turn: (at: number) => void,
): Promise<Manifest> {
  try {
    const reading = new PlainReading(bytes, reviser);
    let turnAt = turnBytes;
    for (const sent of reading.traces()) {
      reading.add(sent, reading.survey(sent));
      if (sent.scanned.end < turnAt) continue;
      turnAt = sent.scanned.end + turnBytes;
      turn(sent.scanned.end);
      await nextTurn();
    }
    return reading.manifest;
  } catch (error) {
    if (error !== notPlain) throw error;
    return readCarefully(bytes);
  }
}

/** The quick reading. @throws `notPlain` */
export function readPlain(bytes: Uint8Array, reviser?: Reviser): Manifest {
  const reading = new PlainReading(bytes, reviser);
  for (const sent of reading.traces()) reading.add(sent, reading.survey(sent));
  return reading.manifest;
}

/** A trace of the quick reading, but for its rows. */
type SentRows = { fields: SentTrace; scanned: ScannedTrace; at: number } & RowsOfTrace;

/** The quick reading, a trace at a time. Its manifest is of the body as it was revised. */
class PlainReading {
  readonly manifest = new ManifestMaker();
  /** Those of the trace that was read last. */
  readonly rows = new MessageRows();
  readonly #bytes: Uint8Array;
  readonly #reviser: Reviser | undefined;
  /** By how much the body became longer so far. */
  #longer = 0;

  constructor(bytes: Uint8Array, reviser: Reviser | undefined) {
    this.#bytes = bytes;
    this.#reviser = reviser;
  }

  /** Reads the body from front to back. @throws `notPlain` */
  *traces(): Generator<SentRows, void> {
    const scanner = new Scanner(this.#bytes);
    let count = 0;
    for (const at of scanner.batch()) {
      if (count === limits.ingest.traces) throw notPlain;
      count += 1;
      yield readTrace(scanner, at, this.rows);
    }
  }

  /** Surveys the trace that was read last. */
  survey({ fields }: SentRows): Survey {
    return surveyRows(this.rows, this.#reviser && new Masker(this.#reviser.policy, fields));
  }

  /** Adds a trace to the manifest, each in its turn. */
  add(sent: SentRows, survey: Survey): void {
    const { fields, scanned, at } = sent;
    const revised = this.#reviser?.revise(fields, survey.hasSecret, { from: at, to: scanned.end });
    if (!revised) {
      this.#add(this.#bytes, sent, survey, this.#longer);
      return;
    }
    const rows = new MessageRows();
    const masked = readTrace(new Scanner(revised), 0, rows);
    this.#add(revised, masked, surveyRows(rows, undefined), this.#longer + at);
    this.#longer += revised.byteLength - (scanned.end - at);
  }

  #add(bytes: Uint8Array, { fields, scanned, at, ...rows }: SentRows, survey: Survey, offset: number): void {
    const text = scanned.text && textOf(bytes, scanned.text, offset);
    this.manifest.add(fields, scanned, { ...rows, ...survey }, { at: at + offset, text });
  }
}

/** Reads the trace at an offset, with its messages into `rows`. @throws `notPlain` */
function readTrace(scanner: Scanner, at: number, rows: MessageRows): SentRows {
  const scanned = scanner.trace(at, rows);
  const parsed = ingestTrace.safeParse(scanned.fields);
  if (!parsed.success || hasHeavyMetadata(parsed.data)) throw notPlain;
  return { fields: parsed.data, scanned, at, ...rowsOfTrace(rows) };
}

const textOf = (bytes: Uint8Array, { from, to }: Place, offset: number): TraceHeader["text"] => ({
  at: from + offset,
  bytes: to - from,
  hash: hash("sha256", bytes.subarray(from, to), "base64"),
});
