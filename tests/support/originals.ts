import { gunzipSync } from "node:zlib";
import { Decrypter } from "age-encryption";
import type { fakeOriginals } from "./fake-originals.ts";

/** Decrypts a stored copy with the age library alone. @returns its head, and its files' bytes by their paths */
export async function openCopy(originals: ReturnType<typeof fakeOriginals>, key: string, secret: string) {
  const stored = originals.copies.get(key);
  if (!stored) throw new Error(`no copy of ${key}`);
  const decrypter = new Decrypter();
  decrypter.addIdentity(secret);
  const open = async (bytes: Buffer) => gunzipSync(await decrypter.decrypt(bytes));
  const head = JSON.parse((await open(Buffer.from(stored.head, "base64"))).toString());
  const files = new Map<string, Buffer>();
  for (const { path, parts } of head.files as { path: string; parts: { sha256: string }[] }[]) {
    const opened = parts.map(({ sha256 }) => open(originals.parts.get(sha256) ?? Buffer.alloc(0)));
    files.set(path, Buffer.concat(await Promise.all(opened)));
  }
  return { head, files, stored };
}
