// Runs in the decoding thread: secrets are masked in a batch before anything of it is stored, so that what is stored, hashed and
// compared is the masked batch alone: docs/decisions/0056.
import {
  type Manifest,
  type ReviseTrace,
  readBatch,
  readBatchInTurns,
  readCarefully,
} from "#lib/ingest/decode/manifest";
import type { MessageRows } from "#lib/ingest/decode/message-rows";
import type { Place } from "#lib/ingest/decode/scanner";
import type { SentTrace } from "#lib/ingest/schema";
import { parseJson } from "#lib/json";
import { limits } from "#lib/limits";
import { Masker, masksAny, type Policy } from "#lib/masking/masker";

/**
 * A batch that was read, quickly where it `isPlain`, and what its body is now, where that had to be masked: the one that the
 * manifest is of.
 */
export type Reading = { manifest: Manifest; isPlain: boolean; masked: Masked | undefined };

/** A masked body: the traces that stand instead of others, or where it was written anew the whole. */
export type Masked = { edits: readonly Edit[] } | { whole: Uint8Array<ArrayBuffer> };

/** What stands in a place of a body from now on. */
export type Edit = Place & { bytes: Uint8Array };

/** Reads a batch and masks it. Without a policy that masks anything, nothing is looked for. @throws SpoorError as `readBatch` */
export function readMasked(bytes: Uint8Array, policy: Policy | undefined): Reading {
  if (!policy || !masksAny(policy)) return unmasked(readBatch(bytes));
  const editor = new Editor(bytes, policy);
  return settle(bytes, policy, editor, readBatch(bytes, editor.revise));
}

/**
 * As `readMasked`, but yields to the event loop regularly.
 *
 * @param turn is called before that, with the offset up to which the body is masked, and the edits so far. They count for
 *   nothing where the batch turns out not to be plain.
 */
export async function readMaskedInTurns(
  bytes: Uint8Array,
  policy: Policy | undefined,
  turn?: (at: number, edits: readonly Edit[]) => void,
): Promise<Reading> {
  if (!policy || !masksAny(policy)) return unmasked(await readBatchInTurns(bytes, undefined, (at) => turn?.(at, [])));
  const editor = new Editor(bytes, policy);
  const manifest = await readBatchInTurns(bytes, editor.revise, (at) => turn?.(at, editor.edits));
  return settle(bytes, policy, editor, manifest);
}

/** The masked body in one piece. */
export function wholeOf(bytes: Uint8Array, masked: Masked): Uint8Array<ArrayBuffer> {
  if ("whole" in masked) return masked.whole;
  const parts = [...partsOf(bytes, masked.edits, { from: 0, to: bytes.byteLength })];
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.byteLength;
  }
  return whole;
}

/** What a place of a body consists of after some edits, which are in it as a whole. */
export function* partsOf(bytes: Uint8Array, edits: Iterable<Edit>, { from, to }: Place): Generator<Uint8Array> {
  let at = from;
  for (const edit of edits) {
    yield bytes.subarray(at, edit.from);
    yield edit.bytes;
    at = edit.to;
  }
  yield bytes.subarray(at, to);
}

/** Masks the traces of a body that have something to mask. */
class Editor {
  readonly #bytes: Uint8Array;
  readonly #policy: Policy;
  readonly edits: Edit[] = [];

  constructor(bytes: Uint8Array, policy: Policy) {
    this.#bytes = bytes;
    this.#policy = policy;
  }

  readonly revise: ReviseTrace = (sent, rows, place) => {
    const masker = new Masker(this.#policy, sent);
    if (!hasToMask(masker, sent) && !isMaskedInRows(masker, rows)) return undefined;
    const trace = parseJson(this.#bytes.subarray(place.from, place.to)) as Record<string, unknown>;
    const bytes = Buffer.from(JSON.stringify(maskTrace(trace, this.#policy)));
    this.edits.push({ ...place, bytes });
    return bytes;
  };
}

function hasToMask(masker: Masker, { messages: _messages, ...fields }: SentTrace): boolean {
  return masker.wouldMask(Buffer.from(JSON.stringify(fields)));
}

/** No role that an agent writes has as many characters as the shortest secret. */
const minRole = 10;

function isMaskedInRows(masker: Masker, rows: MessageRows): boolean {
  for (let at = 0; at < rows.end; at = rows.next(at)) {
    const { role, content } = rows.read(at);
    if (role !== null && role.length >= minRole && masker.wouldMask(Buffer.from(role))) return true;
    if (masker.wouldMask(content)) return true;
    const { metadata } = rows.parts(at);
    if (metadata && masker.wouldMask(metadata)) return true;
  }
  return false;
}

const isPlain = (manifest: Manifest) => manifest.traces > 0 && manifest.headers.every(({ at }) => at !== null);

const unmasked = (manifest: Manifest): Reading => ({ manifest, isPlain: isPlain(manifest), masked: undefined });

function settle(bytes: Uint8Array, policy: Policy, { edits }: Editor, manifest: Manifest): Reading {
  if (!isPlain(manifest)) return settleCarefully(bytes, policy, manifest);
  return { manifest, isPlain: true, masked: edits.length === 0 ? undefined : { edits } };
}

/** Of a batch that is not plain all is masked, also what is not stored as rows: fields that are unknown, or sent twice. */
function settleCarefully(bytes: Uint8Array, policy: Policy, manifest: Manifest): Reading {
  const sent = parseJson(bytes) as { traces: Record<string, unknown>[] };
  const { traces, ...others } = sent;
  const masker = new Masker(policy);
  const body = { ...masker.value(others), traces: traces.map((trace) => maskTrace(trace, policy)) };
  const json = JSON.stringify(body);
  if (json === JSON.stringify({ ...others, traces }) && !masker.wouldMask(Buffer.from(bytes)))
    return unmasked(manifest);
  const whole = new Uint8Array(Buffer.from(json));
  return { manifest: readCarefully(whole), isPlain: false, masked: { whole } };
}

/** Fields with a greatest length: what stands for a secret may be longer than it. */
const bounds = { trace: limits.trace, message: { role: limits.message.role } };

/**
 * A trace as it was sent, masked: message by message, so that one that only grew begins as it did. What one of them tells to be a
 * secret is masked in all of them.
 */
function maskTrace(trace: Record<string, unknown>, policy: Policy): Record<string, unknown> {
  const {
    source = "unknown",
    sourceId,
    project,
    metadata,
  } = trace as { source?: string; sourceId: string } & typeof trace;
  const masker = new Masker(policy, { source, sourceId, project, metadata });
  const { messages, ...fields } = trace as { messages: unknown[] };
  const own = masker.value(fields) as Record<string, unknown>;
  const rows = messages.map((message) => masker.value(message));
  const masked = { ...masker.withoutEchoes(own), source: own.source, sourceId: own.sourceId } as typeof own;
  if (own.source === undefined) delete masked.source;
  const maskedMessages = rows.map((message) => withinBounds(masker.withoutEchoes(message), bounds.message));
  return { ...withinBounds(masked, bounds.trace), messages: maskedMessages };
}

function withinBounds<T>(fields: T, most: Record<string, number>): T {
  const texts = fields as Record<string, unknown>;
  for (const [name, max] of Object.entries(most)) {
    const text = texts[name];
    if (typeof text === "string" && text.length > max) texts[name] = [...text].slice(0, max).join("");
  }
  return fields;
}
