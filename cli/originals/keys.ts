import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { configFolder, readTextIfAny, writeFileAtomically } from "../files/state-files.ts";

/** Loaded on demand, because it takes longer to start than the client. */
export const loadAge = () => import("age-encryption");

export type Identity = { secret: string; recipient: string };

export const keyPath = (host: Host): string => join(configFolder(host), "originals.key");
/** A machine that can only add copies has this file instead of the key. */
export const recipientPath = (host: Host): string => join(configFolder(host), "originals.recipient");

const secretPrefix = "AGE-SECRET-KEY-1";
const recipientForm = /^age1[02-9ac-hj-np-z]{58}$/;
const armorStart = "-----BEGIN AGE ENCRYPTED FILE-----";
const charactersPerGroup = 5;

export async function createIdentity(): Promise<Identity> {
  const { generateX25519Identity, identityToRecipient } = await loadAge();
  const secret = await generateX25519Identity();
  return { secret, recipient: await identityToRecipient(secret) };
}

/** @returns undefined if the checksum shows a mistake */
async function toIdentity(secret: string): Promise<Identity | undefined> {
  const { identityToRecipient } = await loadAge();
  try {
    return { secret, recipient: await identityToRecipient(secret) };
  } catch {
    return undefined;
  }
}

export async function parseKeyFile(text: string): Promise<Identity | undefined> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return lines.length === 1 ? toIdentity((lines[0] ?? "").trim()) : undefined;
}

const formatKeyFile = ({ secret, recipient }: Identity, createdAt: Date): string =>
  `# created: ${createdAt.toISOString()}\n# public key: ${recipient}\n${secret}\n`;

export async function readIdentity(host: Host): Promise<Identity | undefined> {
  const text = await readTextIfAny(keyPath(host));
  if (text.trim() === "") return undefined;
  const identity = await parseKeyFile(text);
  if (!identity) throw new CommandError("failed", `${keyPath(host)} does not contain an age secret key.`);
  return identity;
}

export const writeIdentity = (host: Host, identity: Identity, createdAt = new Date()): Promise<void> =>
  writeFileAtomically(keyPath(host), formatKeyFile(identity, createdAt));

export const isRecipient = (text: string): boolean => recipientForm.test(text);

/**
 * Reads the public key that this machine encrypts copies to.
 *
 * @throws CommandError if the file is invalid
 */
export async function readRecipient(host: Host): Promise<string | undefined> {
  const identity = await readIdentity(host);
  if (identity) return identity.recipient;
  const text = (await readTextIfAny(recipientPath(host))).trim();
  if (text === "") return undefined;
  if (!isRecipient(text))
    throw new CommandError("failed", `${recipientPath(host)} does not contain an age public key (age1…).`);
  return text;
}

export const pinRecipient = (host: Host, recipient: string): Promise<void> =>
  writeFileAtomically(recipientPath(host), `${recipient}\n`);

/** The first 32 bits of the SHA-256. */
export const getFingerprint = (recipient: string): string =>
  createHash("sha256").update(recipient).digest("hex").slice(0, 8).toUpperCase();

/** Formats a fingerprint as `4F2A 91C0`. */
export const formatFingerprint = (fingerprint: string): string => fingerprint.replace(/^(.{4})(?=.)/, "$1 ");

/** The recovery phrase is the secret key in groups. */
export function formatPhrase({ secret }: Identity): string {
  const letters = secret.slice(secretPrefix.length);
  return (letters.match(new RegExp(`.{1,${charactersPerGroup}}`, "g")) ?? []).join(" ");
}

export function parsePhrase(text: string): Promise<Identity | undefined> {
  const letters = text.replace(/\s/g, "").toUpperCase();
  return toIdentity(letters.startsWith(secretPrefix) ? letters : secretPrefix + letters);
}

/** Like `age -p`. */
export async function sealIdentity(identity: Identity, passphrase: string): Promise<Uint8Array> {
  const { Encrypter } = await loadAge();
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  return encrypter.encrypt(formatKeyFile(identity, new Date()));
}

export async function openSealedIdentity(sealed: Uint8Array, passphrase: string): Promise<Identity | undefined> {
  const { armor, Decrypter } = await loadAge();
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    const text = Buffer.from(sealed).toString("latin1").trim();
    const bytes = text.startsWith(armorStart) ? armor.decode(text) : sealed;
    return await parseKeyFile(await decrypter.decrypt(bytes, "text"));
  } catch {
    return undefined;
  }
}
