import type { DatabaseSync } from "node:sqlite";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Sink } from "../adapter.ts";
import { readColumnText, readJsonColumn, selectBounded } from "../sqlite.ts";

/** A damaged node may list itself. */
const maxNodes = 100_000;
const idBytes = 32;
const brace = 0x7b;

type PendingBlob = { id: string; isMessage: boolean } | { message: Fields };

/**
 * A message is JSON in a blob. Nodes (Protocol Buffers) list hashes of messages in field 1 and of nodes in field 2, or
 * contain a message. A message may come twice.
 */
export function* readBlobMessages(database: DatabaseSync, rootId: string, sink: Sink): Generator<Fields> {
  const read = database.prepare(`SELECT ${selectBounded("data")} FROM blobs WHERE id = ?`);
  const visited = new Set<string>();
  const pending: PendingBlob[] = [{ id: rootId, isMessage: true }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if ("message" in next) {
      sink.entry();
      yield next.message;
      continue;
    }
    const { id, isMessage } = next;
    const row = read.get(id);
    if (!row) {
      if (isMessage) countInvalid(sink, `message ${id} is missing`);
      continue;
    }
    const bytes = Buffer.from(row.data instanceof Uint8Array ? row.data : (readColumnText(row.data) ?? ""));
    if (row.data === null || bytes[0] === brace) {
      sink.entry();
      const message = readJsonColumn(row, "data", `message ${id}`, sink);
      if (message) yield message;
    } else if (!visited.has(id) && visited.size < maxNodes) {
      visited.add(id);
      const listed = listBlobs(bytes);
      if (listed.length === 0 && isMessage) sink.unhandled("blob");
      pending.push(...listed.reverse());
    }
  }
}

function countInvalid(sink: Sink, reason: string): void {
  sink.entry();
  sink.invalid(reason);
}

function listBlobs(bytes: Buffer): PendingBlob[] {
  const listed: PendingBlob[] = [];
  const inline: PendingBlob[] = [];
  for (const { field, data } of readProtobuf(bytes)) {
    if ((field === 1 || field === 2) && data.length === idBytes) {
      listed.push({ id: data.toString("hex"), isMessage: field === 1 });
    } else if (data[0] === brace) {
      const message = parseJson(data.toString("utf8"));
      if (isFields(message) && typeof message.role === "string") inline.push({ message });
    }
  }
  return [...listed, ...inline];
}

type ProtobufField = { field: number; data: Buffer };

function* readProtobuf(bytes: Buffer): Generator<ProtobufField> {
  let at = 0;
  const readVarint = (): number | undefined => {
    let value = 0;
    for (let scale = 1; at < bytes.length && scale < 2 ** 64; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
    const key = readVarint();
    if (key === undefined || key < 8) return;
    const wireType = key % 8;
    const field = Math.floor(key / 8);
    if (wireType === 0) {
      if (readVarint() === undefined) return;
    } else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else if (wireType === 2) {
      const length = readVarint();
      if (length === undefined || at + length > bytes.length) return;
      yield { field, data: bytes.subarray(at, at + length) };
      at += length;
    } else return;
  }
}
