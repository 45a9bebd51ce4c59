import "server-only";
import { sendChunks } from "#lib/http/send-stream";
import { loadPart } from "#lib/originals/queries";
import { type OriginalKey, readKeys, readOriginal } from "#lib/originals/sql";
import { tarEnd, tarHeader, tarPadding } from "#lib/originals/tar";

/**
 * Streams all copies as a tar archive of age files. The connection breaks if one is deleted meanwhile.
 *
 * @throws SpoorError `overloaded` as `sendChunks`
 */
export const exportOriginals = (userId: string): Promise<ReadableStream<Uint8Array>> =>
  sendChunks(userId, "export", archive(userId));

async function* archive(userId: string): AsyncGenerator<Uint8Array, undefined> {
  for (let keys = await readKeys(userId); keys.length > 0; keys = await readKeys(userId, keys.at(-1)))
    for (const key of keys) yield* entriesOf(userId, key);
  yield tarEnd();
}

async function* entriesOf(userId: string, key: OriginalKey): AsyncGenerator<Uint8Array, undefined> {
  const original = await readOriginal(userId, key);
  if (!original) return;
  const folder = `${toName(key.source)}/${toName(key.sourceId)}`;
  yield* entry(`${folder}/head.age`, original.head, original.updatedAt);
  for (const sha256 of new Set(original.parts.map((part) => part.sha256)))
    yield* entry(`${folder}/${sha256}.age`, await readWhole(userId, sha256), original.updatedAt);
}

async function readWhole(userId: string, sha256: string): Promise<Uint8Array> {
  const stored = await loadPart(userId, sha256);
  if (!stored) throw new Error("a copy was deleted while it was exported");
  return stored;
}

function* entry(name: string, body: Uint8Array, at: Date): Generator<Uint8Array, undefined> {
  yield tarHeader({ name, bytes: body.byteLength, at });
  yield body;
  yield tarPadding(body.byteLength);
}

/** Names can't leave the folder where the archive is unpacked. */
const toName = (text: string): string => encodeURIComponent(text).replace(/^\.+/, (dots) => "%2E".repeat(dots.length));
