// One trace at a time is parsed.
import { isUtf8 } from "node:buffer";
import { fieldErrors } from "#lib/core/fields";
import { endOfString, parseJson } from "#lib/core/json";
import { limits } from "#lib/core/limits";
import { invalidBatch } from "#lib/ingest/decode/validate";
import { ingestRequest } from "#lib/ingest/schema";

/** @throws SpoorError `invalid_json`, `invalid_request`. Neither quotes the body. */
export function* parseTraces(bytes: Uint8Array): Generator<unknown, void> {
  const places = findTraces(bytes);
  if (!places) return yield* parseWhole(bytes);
  for (const { from, to } of places) yield parseJson(bytes.subarray(from, to));
}

function parseWhole(bytes: Uint8Array): unknown[] {
  const request = ingestRequest.safeParse(parseJson(bytes));
  if (!request.success) throw invalidBatch(fieldErrors(request.error));
  return request.data.traces;
}

type TraceSpan = { from: number; to: number };

/** Nearly every body begins and ends like this. */
const opening = /^[ \t\r\n]*\{[ \t\r\n]*"traces"[ \t\r\n]*:[ \t\r\n]*\[/;
const closing = /^[ \t\r\n]*\][ \t\r\n]*\}[ \t\r\n]*$/;
const maxAroundBytes = 256;

const [comma, openBrace, closeBrace, openBracket, closeBracket, quote] = [0x2c, 0x7b, 0x7d, 0x5b, 0x5d, 0x22];

/** Undefined for a body that must be parsed as a whole, which also finds its errors. */
function findTraces(bytes: Uint8Array): TraceSpan[] | undefined {
  if (!isUtf8(bytes)) return undefined;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = opening.exec(body.toString("latin1", 0, maxAroundBytes));
  if (!head) return undefined;
  const places: TraceSpan[] = [];
  const walker = new Walker(bytes, head[0].length);
  do {
    const place = walker.passObject();
    if (!place) break;
    places.push(place);
  } while (walker.passComma());
  if (walker.isOverLimits || places.length > limits.ingest.traces) return undefined;
  const isWhole = closing.test(body.toString("latin1", walker.at, walker.at + maxAroundBytes));
  return isWhole && bytes.length - walker.at <= maxAroundBytes && !walker.isBehindComma ? places : undefined;
}

const levelsAround = 2;

/** Parsing checks later that each object is valid JSON. */
class Walker {
  readonly #bytes: Uint8Array;
  #values = 2;
  at: number;
  isBehindComma = false;
  isOverLimits = false;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  passObject(): TraceSpan | undefined {
    this.#passSpace();
    const bytes = this.#bytes;
    if (bytes[this.at] !== openBrace) return undefined;
    this.isBehindComma = false;
    const from = this.at;
    let at = from;
    let [depth, values] = [0, this.#values];
    do {
      const byte = bytes[at];
      if (byte === undefined) return undefined;
      if (byte === quote) {
        at = endOfString(bytes, at + 1);
        if (at === -1) return undefined;
      } else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        values += 1;
        if (depth + levelsAround > limits.maxNesting) this.isOverLimits = true;
      } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
      else if (byte === comma) values += 1;
      at += 1;
    } while (depth > 0);
    this.#values = values;
    if (values > limits.maxValues) this.isOverLimits = true;
    this.at = at;
    return { from, to: at };
  }

  passComma(): boolean {
    this.#passSpace();
    this.isBehindComma = this.#bytes[this.at] === comma;
    if (this.isBehindComma) {
      this.at += 1;
      this.#values += 1;
    }
    return this.isBehindComma;
  }

  #passSpace(): void {
    for (;;) {
      const byte = this.#bytes[this.at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.at += 1;
    }
  }
}
