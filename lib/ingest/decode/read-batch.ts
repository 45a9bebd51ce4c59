import { contentHash } from "#lib/ingest/decode/content-hash";
import type { Manifest, TraceHeader } from "#lib/ingest/decode/manifest";
import { hasToMask, maskTrace } from "#lib/ingest/decode/mask-trace";
import { MessageRows, picturesIn } from "#lib/ingest/decode/message-rows";
import { type BatchMessage, normalizeMessage, normalizeTrace, Sanitizer } from "#lib/ingest/decode/normalize";
import { deriveRowTitle } from "#lib/ingest/decode/row-title";
import { parseTraces } from "#lib/ingest/decode/traces";
import { BatchFaults } from "#lib/ingest/decode/validate";
import type { SentTrace } from "#lib/ingest/schema";
import { type MaskingPolicy, masksAny } from "#lib/masking/masker";

export type ReadBatch = Manifest & { isMasked: boolean };

/**
 * @param keep gets the rows of each trace, in order of position
 * @throws SpoorError `invalid_json`, `invalid_request`. Neither quotes the body.
 */
export async function readBatch(
  bytes: Uint8Array,
  policy: MaskingPolicy | undefined,
  keep: (rows: Buffer) => unknown,
): Promise<ReadBatch> {
  const reader = new BatchReader(policy && masksAny(policy) ? policy : undefined);
  for (const sent of parseTraces(bytes)) {
    const rows = reader.read(sent);
    if (rows) await keep(rows);
  }
  return reader.end();
}

class BatchReader {
  readonly #policy: MaskingPolicy | undefined;
  readonly #faults = new BatchFaults();
  readonly #rows = new MessageRows();
  /** The last trace of a key counts. */
  readonly #headers = new Map<string, TraceHeader>();
  #traces = 0;
  #messages = 0;
  #keptBytes = 0;
  #isMasked = false;

  constructor(policy: MaskingPolicy | undefined) {
    this.#policy = policy;
  }

  /** @returns undefined if the batch is not valid */
  read(sent: unknown): Buffer | undefined {
    const index = this.#traces;
    this.#traces += 1;
    const trace = this.#faults.validate(index, sent);
    if (!trace) return undefined;
    let read: ReadTrace | undefined = this.#normalize(index, trace);
    if (this.#policy && hasToMask(this.#policy, trace, read.messages)) {
      this.#isMasked = true;
      const masked = this.#faults.validate(index, maskTrace(sent as Record<string, unknown>, this.#policy));
      read = masked && this.#normalize(index, masked);
    }
    if (!read) return undefined;
    for (const message of read.messages) this.#rows.add(message);
    const header = makeHeader(read, this.#rows, this.#keptBytes);
    const key = JSON.stringify([header.source, header.sourceId]);
    this.#headers.delete(key);
    this.#headers.set(key, header);
    this.#messages += header.messageCount;
    this.#keptBytes += header.rowBytes;
    return this.#rows.take();
  }

  #normalize(index: number, trace: SentTrace): ReadTrace {
    const read = normalizeMessages(trace);
    this.#faults.checkDigits(index, read.sums);
    return { trace, ...read };
  }

  end(): ReadBatch {
    this.#faults.throwIfAny();
    return {
      headers: [...this.#headers.values()],
      traces: this.#traces,
      messages: this.#messages,
      isMasked: this.#isMasked,
    };
  }
}

type ReadTrace = { trace: SentTrace; messages: BatchMessage[]; sums: MessageSums };

type MessageSums = Pick<TraceHeader, "tokenCount" | "lastMessageAt" | "sanitized"> & {
  excessDigits: number;
  /** The index of the message with the most excess digits. */
  longest: number;
};

function normalizeMessages({ messages: sent }: SentTrace): Omit<ReadTrace, "trace"> {
  const sanitizer = new Sanitizer();
  let longest = { index: 0, digits: Number.NEGATIVE_INFINITY };
  let tokenCount = 0;
  let lastMessageAt: number | null = null;
  const messages = sent.map((message, index) => {
    const before = sanitizer.excessDigits;
    const normal = normalizeMessage(message, sanitizer);
    const digits = sanitizer.excessDigits - before;
    if (digits > longest.digits) longest = { index, digits };
    tokenCount += normal.tokenCount ?? 0;
    if (normal.createdAt !== null) lastMessageAt = Math.max(lastMessageAt ?? normal.createdAt, normal.createdAt);
    return normal;
  });
  messages.sort((a, b) => a.position - b.position);
  const { changed: sanitized, excessDigits } = sanitizer;
  return { messages, sums: { tokenCount, lastMessageAt, sanitized, excessDigits, longest: longest.index } };
}

function makeHeader({ trace, messages, sums }: ReadTrace, rows: MessageRows, at: number): TraceHeader {
  const sanitizer = new Sanitizer();
  const fields = normalizeTrace(trace, sanitizer);
  return {
    ...fields,
    ...deriveRowTitle(messages),
    sanitized: sums.sanitized || sanitizer.changed,
    messageCount: trace.messages.length,
    firstPosition: rows.end === 0 ? null : rows.read(0).position,
    tokenCount: sums.tokenCount,
    lastMessageAt: sums.lastMessageAt,
    contentHash: contentHash(fields, rows),
    at,
    rowBytes: rows.end,
    pictures: picturesIn(rows),
  };
}
