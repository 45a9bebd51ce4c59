// Runs in the decoding thread: secrets are masked in a batch before anything of it is stored, so that what is stored, hashed and
// compared is the masked batch alone: docs/decisions/0056.
import { type Manifest, readBatch, readBatchInTurns, readCarefully, type SeeTrace } from "#lib/ingest/decode/manifest";
import type { MessageRows } from "#lib/ingest/decode/message-rows";
import type { SentTrace } from "#lib/ingest/schema";
import { parseJson } from "#lib/json";
import { limits } from "#lib/limits";
import { Masker, type Policy } from "#lib/masking/masker";

/** A batch that was read, and its body where that had to be masked: the one that the manifest is of. */
export type Reading = { manifest: Manifest; masked: Uint8Array<ArrayBuffer> | undefined };

/** Reads a batch and masks it. Without a policy nothing is masked. @throws SpoorError as `readBatch` */
export function readMasked(bytes: Uint8Array, policy: Policy | undefined): Reading {
  if (!policy) return { manifest: readBatch(bytes), masked: undefined };
  const watch = new Watch(policy);
  return settle(bytes, policy, watch, readBatch(bytes, watch.see));
}

/** As `readMasked`, but yields to the event loop regularly. */
export async function readMaskedInTurns(bytes: Uint8Array, policy: Policy | undefined): Promise<Reading> {
  if (!policy) return { manifest: await readBatchInTurns(bytes), masked: undefined };
  const watch = new Watch(policy);
  return settle(bytes, policy, watch, await readBatchInTurns(bytes, watch.see));
}

type Place = { from: number; to: number };

/** Finds the traces of a batch that have something to mask. */
class Watch {
  readonly #policy: Policy;
  readonly places: Place[] = [];

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  readonly see: SeeTrace = (sent, rows, place) => {
    const masker = new Masker(this.#policy, sent);
    if (hasToMask(masker, sent) || isMaskedInRows(masker, rows)) this.places.push(place);
  };
}

function hasToMask(masker: Masker, { messages: _messages, ...fields }: SentTrace): boolean {
  return masker.wouldMask(Buffer.from(JSON.stringify(fields)));
}

function isMaskedInRows(masker: Masker, rows: MessageRows): boolean {
  for (let at = 0; at < rows.end; at = rows.next(at)) {
    if (masker.wouldMask(rows.read(at).content)) return true;
    const { metadata } = rows.parts(at);
    if (metadata && masker.wouldMask(metadata)) return true;
  }
  return false;
}

function settle(bytes: Uint8Array, policy: Policy, { places }: Watch, manifest: Manifest): Reading {
  const isPlain = manifest.traces > 0 && manifest.headers.every(({ at }) => at !== null);
  if (!isPlain) return settleCarefully(bytes, policy, manifest);
  if (places.length === 0) return { manifest, masked: undefined };
  const masked = splice(bytes, places, policy);
  return { manifest: readBatch(masked), masked };
}

/** Of a batch that is not plain all is masked, also what is not stored as rows: fields that are unknown, or sent twice. */
function settleCarefully(bytes: Uint8Array, policy: Policy, manifest: Manifest): Reading {
  const sent = parseJson(bytes) as { traces: Record<string, unknown>[] };
  const { traces, ...others } = sent;
  const masker = new Masker(policy);
  const body = { ...masker.value(others), traces: traces.map((trace) => maskTrace(trace, policy)) };
  const json = JSON.stringify(body);
  if (json === JSON.stringify({ ...others, traces }) && !masker.wouldMask(Buffer.from(bytes)))
    return { manifest, masked: undefined };
  const masked = new Uint8Array(Buffer.from(json));
  return { manifest: readCarefully(masked), masked };
}

/** The body with the traces at some places masked. */
function splice(bytes: Uint8Array, places: Place[], policy: Policy): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { from, to } of places) {
    const trace = parseJson(bytes.subarray(from, to)) as Record<string, unknown>;
    parts.push(bytes.subarray(at, from), Buffer.from(JSON.stringify(maskTrace(trace, policy))));
    at = to;
  }
  parts.push(bytes.subarray(at));
  const masked = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let end = 0;
  for (const part of parts) {
    masked.set(part, end);
    end += part.byteLength;
  }
  return masked;
}

/** Fields with a greatest length: what stands for a secret may be longer than it. */
const bounded = { ...limits.trace, role: limits.message.role } as Record<string, unknown>;

/** A trace as it was sent, masked: message by message, so that one that only grew begins as it did. */
function maskTrace(trace: Record<string, unknown>, policy: Policy): Record<string, unknown> {
  const { source = "unknown", sourceId } = trace as { source?: string; sourceId: string };
  const masker = new Masker(policy, { source, sourceId });
  const { messages, ...fields } = trace as { messages: unknown[] };
  const masked = masker.value(fields) as Record<string, unknown>;
  for (const [name, value] of Object.entries(masked)) {
    const max = bounded[name];
    if (typeof value === "string" && typeof max === "number" && value.length > max)
      masked[name] = value.slice(0, max).toWellFormed();
  }
  return { ...masked, messages: messages.map((message) => masker.value(message)) };
}
