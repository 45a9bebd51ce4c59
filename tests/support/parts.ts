import { createHash, randomBytes } from "node:crypto";
import { getFingerprint } from "#lib/originals/keys";

export const recipient = "age1vhddrrdds2wrxxphkarvnghnryr8t8ty827p4eeg932yvsfjascq9h5mqd";
export const otherRecipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";
export const fingerprint = getFingerprint(recipient);

export type Part = { bytes: Buffer<ArrayBuffer>; sha256: string };

/** Bytes that a server can't distinguish from an age file. */
export function makePart(bytes = 100): Part {
  const file = Buffer.concat([Buffer.from("age-encryption.org/v1\n"), randomBytes(bytes)]);
  return { bytes: file, sha256: createHash("sha256").update(file).digest("hex") };
}

/** Describes a copy as a client does. */
export const getManifest = (...parts: Part[]) => ({
  recipient,
  files: 1,
  plainBytes: 7,
  head: makePart().bytes.toString("base64"),
  parts: parts.map(({ sha256 }) => sha256),
});
