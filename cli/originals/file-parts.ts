import { createHash, type Hash } from "node:crypto";
import type { OpenFile, SourceFile } from "./collect.ts";
import type { KnownFile } from "./copy-states.ts";
import type { HeadPart } from "./format.ts";

const partBytes = 1024 * 1024;
const quietMs = 300_000;
/** Every manifest lists all parts, so many small ones are merged. */
const maxSmallParts = 32;

/** The small parts after these are sent again as one. */
export function countKeptParts(parts: readonly HeadPart[], modifiedAt: number, now: number): number {
  const full = parts.findLastIndex(({ bytes }) => bytes >= partBytes) + 1;
  const small = parts.length - full;
  const isQuiet = now - modifiedAt >= quietMs;
  return small > maxSmallParts || (isQuiet && small > 1) ? full : parts.length;
}

type Sending = {
  now: number;
  put(plain: Buffer): Promise<HeadPart>;
  onProgress(file: KnownFile): Promise<void>;
};

/**
 * Sends only new bytes if the file has grown, otherwise all of it.
 *
 * @throws if it can't be read or shrinks meanwhile
 */
export async function sendFile(file: SourceFile, known: KnownFile | undefined, sending: Sending): Promise<KnownFile> {
  const opened = await file.open();
  try {
    const hash = createHash("sha256");
    if (known && (await isPrefix(opened, known, hash))) return await sendRest(file, opened, { known, hash }, sending);
    const none = { name: file.name, bytes: 0, sha256: "", modifiedAt: 0, stamp: "", parts: [] };
    return await sendRest(file, opened, { known: none, hash: createHash("sha256") }, sending);
  } finally {
    await opened.close();
  }
}

/** @param hash receives the prefix's bytes */
export async function isPrefix(
  file: OpenFile,
  { bytes, sha256 }: Pick<KnownFile, "bytes" | "sha256">,
  hash: Hash = createHash("sha256"),
): Promise<boolean> {
  if (file.bytes < bytes) return false;
  for (let at = 0; at < bytes; ) {
    const chunk = await file.read(at, Math.min(partBytes, bytes - at));
    if (chunk.length === 0) return false;
    hash.update(chunk);
    at += chunk.length;
  }
  return bytes === 0 || hash.copy().digest("hex") === sha256;
}

async function sendRest(
  file: SourceFile,
  opened: OpenFile,
  { known, hash }: { known: KnownFile; hash: Hash },
  { now, put, onProgress }: Sending,
): Promise<KnownFile> {
  const parts = known.parts.slice(0, countKeptParts(known.parts, file.modifiedAt, now));
  let at = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  let hashed = known.bytes;
  const describe = (stamp: string): KnownFile => ({
    name: file.name,
    bytes: at,
    sha256: hash.copy().digest("hex"),
    modifiedAt: file.modifiedAt,
    stamp,
    parts: [...parts],
  });
  while (at < opened.bytes) {
    const plain = await opened.read(at, Math.min(partBytes, opened.bytes - at));
    if (plain.length === 0) throw new Error(`${file.name} became shorter while it was read`);
    parts.push(await put(plain));
    hash.update(plain.subarray(Math.min(plain.length, Math.max(0, hashed - at))));
    at += plain.length;
    hashed = Math.max(hashed, at);
    if (at >= hashed) await onProgress(describe(""));
  }
  return describe(file.stamp);
}
