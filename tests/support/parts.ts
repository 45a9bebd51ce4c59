import { createHash, randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { Decrypter } from "age-encryption";
import { getFingerprint } from "#lib/originals/keys";
import type { fakeOriginals } from "./fake-originals.ts";

export const recipient = "age1vhddrrdds2wrxxphkarvnghnryr8t8ty827p4eeg932yvsfjascq9h5mqd";
export const otherRecipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";
export const fingerprint = getFingerprint(recipient);

export type Part = { bytes: Buffer<ArrayBuffer>; sha256: string };

/** What a server can't tell from an age file. */
export function makePart(bytes = 100): Part {
  const file = Buffer.concat([Buffer.from("age-encryption.org/v1\n"), randomBytes(bytes)]);
  return { bytes: file, sha256: createHash("sha256").update(file).digest("hex") };
}

/** What a client sends of a copy. */
export const manifestOf = (...parts: Part[]) => ({
  recipient,
  files: 1,
  plainBytes: 7,
  head: makePart().bytes.toString("base64"),
  parts: parts.map(({ sha256 }) => sha256),
});

/** What the head of a stored copy says, and the bytes of its files by their paths, by the age library alone. */
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
