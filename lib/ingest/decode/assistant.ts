// A second thread surveys rows while the decoding thread reads on: docs/decisions/0063.
import type { MessagePort } from "node:worker_threads";
import { placeOf } from "#lib/errors";
import { MessageRows } from "#lib/ingest/decode/message-rows";
import { type Survey, surveyRows } from "#lib/ingest/decode/survey";
import { Masker, type Policy } from "#lib/masking/masker";

type TraceKey = { source: string; sourceId: string };

/** The rows of some traces, one behind the other, and where those of each end. */
type Piece = { policy: Policy | undefined; rows: Uint8Array<ArrayBuffer>; traces: (TraceKey & { end: number })[] };
type Answer = { surveys: Survey[] } | { failedAt: string };

/** The size of a piece, and how many are on their way at most: they are copies. */
const [pieceBytes, maxOpen] = [512 << 10, 3];
/** Rows of one trace that take more are surveyed by the caller, who has them already. */
const maxTraceBytes = 4 << 20;

/** Has the thread at the other end of a port survey the rows of one batch. */
export class Assistant {
  readonly #port: MessagePort;
  readonly #policy: Policy | undefined;
  readonly #open: PromiseWithResolvers<Survey[]>[] = [];
  #rows = new MessageRows();
  #traces: Piece["traces"] = [];
  #failure: Error | undefined;

  constructor(port: MessagePort, policy: Policy | undefined) {
    this.#port = port;
    this.#policy = policy;
    port.on("message", (answer: Answer) => {
      if ("failedAt" in answer) this.#fail(new Error(`surveying failed: ${answer.failedAt}`));
      else this.#open.shift()?.resolve(answer.surveys);
    });
    port.on("close", () => this.#fail(new Error("the assisting thread ended")));
  }

  /** Whether to survey a trace's rows takes the caller less time than to have it done. */
  isBusyFor(rows: MessageRows): boolean {
    return rows.end > maxTraceBytes || (this.#traces.length === 0 && this.#open.length >= maxOpen);
  }

  /** Takes a copy of a trace's rows. @returns whether there are enough to be sent */
  add(rows: MessageRows, { source, sourceId }: TraceKey): boolean {
    this.#rows.append(rows);
    this.#traces.push({ source, sourceId, end: this.#rows.end });
    return this.#rows.end >= pieceBytes;
  }

  /** Sends the rows that were added since the last time. @returns what is known of each trace then */
  async send(): Promise<Survey[]> {
    if (this.#failure) throw this.#failure;
    const rows = this.#rows.take();
    const piece: Piece = { policy: this.#policy, rows, traces: this.#traces };
    this.#traces = [];
    const open = Promise.withResolvers<Survey[]>();
    this.#open.push(open);
    this.#port.postMessage(piece, [rows.buffer]);
    return open.promise;
  }

  close(): void {
    this.#port.close();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#open.splice(0)) reject(this.#failure);
  }
}

/** Surveys what comes from an `Assistant` until it closes its port. */
export function assist({ port }: { port: MessagePort }): void {
  port.on("message", (piece: Piece) => {
    let answer: Answer;
    try {
      answer = { surveys: surveyPiece(piece) };
    } catch (error) {
      answer = { failedAt: placeOf(error) };
    }
    port.postMessage(answer);
  });
}

function surveyPiece({ policy, rows: { buffer, byteOffset }, traces }: Piece): Survey[] {
  const rows = new MessageRows();
  let start = 0;
  return traces.map(({ end, ...key }) => {
    rows.restore(Buffer.from(buffer, byteOffset + start, end - start));
    start = end;
    return surveyRows(rows, policy && new Masker(policy, key));
  });
}
