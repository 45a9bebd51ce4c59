import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { CommandError } from "../errors.ts";
import { type Fields, isFields, parseJson, toList, toText } from "../files/json.ts";
import { loadAge } from "./keys.ts";

const MiB = 1024 * 1024;
const maxPlainPartBytes = 16 * MiB;
const maxPlainHeadBytes = 64 * MiB;

/** `sha256` of the encrypted file, `bytes` before compression. */
export type HeadPart = { sha256: string; bytes: number };

export type HeadFile = {
  /** Relative to the home, with `/`. */
  path: string;
  bytes: number;
  sha256: string;
  /** ISO 8601 */
  modifiedAt: string;
  parts: HeadPart[];
};

export type HeadGit = { remote: string | null; branch: string | null; commit: string | null };

/** Lists a session's files and their parts. */
export type Head = {
  format: 1;
  agent: string;
  agentVersion: string | null;
  sourceId: string;
  machine: string;
  /** Machines may share a name. */
  device?: string | null;
  /** The folder where the paths start, such as `~/.claude`. */
  home: string;
  cwd: string | null;
  git: HeadGit | null;
  /** ISO 8601 */
  writtenAt: string;
  files: HeadFile[];
};

export type EncodedPart = { sha256: string; bytes: Uint8Array<ArrayBuffer> };

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export const hashBytes = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

async function seal(plain: Uint8Array, recipient: string): Promise<Uint8Array<ArrayBuffer>> {
  const { Encrypter } = await loadAge();
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return new Uint8Array(await encrypter.encrypt(await compress(plain)));
}

/** @throws CommandError for a wrong key, changed bytes, or more than `maxBytes` */
async function open(sealed: Uint8Array, secret: string, maxBytes: number): Promise<Buffer> {
  const { Decrypter } = await loadAge();
  const decrypter = new Decrypter();
  decrypter.addIdentity(secret);
  try {
    return await decompress(await decrypter.decrypt(sealed), { maxOutputLength: maxBytes });
  } catch (error) {
    throw new CommandError("failed", `Can't decrypt a copy with this machine's key: ${(error as Error).message}.`);
  }
}

export async function encodePart(plain: Uint8Array, recipient: string): Promise<EncodedPart> {
  const bytes = await seal(plain, recipient);
  return { sha256: hashBytes(bytes), bytes };
}

export const decodePart = (bytes: Uint8Array, secret: string): Promise<Buffer> =>
  open(bytes, secret, maxPlainPartBytes);

export const encodeHead = (head: Head, recipient: string): Promise<Uint8Array<ArrayBuffer>> =>
  seal(Buffer.from(JSON.stringify(head)), recipient);

/** @throws CommandError as `open`, or if this client can't read the format */
export async function decodeHead(bytes: Uint8Array, secret: string): Promise<Head> {
  const text = (await open(bytes, secret, maxPlainHeadBytes)).toString();
  const head = readHead(parseJson(text));
  if (!head) throw new CommandError("failed", "The copy has a format that this client does not know.");
  return head;
}

function readHead(value: unknown): Head | undefined {
  if (!isFields(value) || value.format !== 1) return undefined;
  const files = toList(value.files).map(readFile);
  if (files.some((file) => file === undefined)) return undefined;
  return {
    format: 1,
    agent: toText(value.agent),
    agentVersion: toTextOrNull(value.agentVersion),
    sourceId: toText(value.sourceId),
    machine: toText(value.machine),
    device: toTextOrNull(value.device),
    home: toText(value.home),
    cwd: toTextOrNull(value.cwd),
    git: isFields(value.git) ? readGit(value.git) : null,
    writtenAt: toText(value.writtenAt),
    files: files as HeadFile[],
  };
}

const readGit = ({ remote, branch, commit }: Fields): HeadGit => ({
  remote: toTextOrNull(remote),
  branch: toTextOrNull(branch),
  commit: toTextOrNull(commit),
});

function readFile(value: unknown): HeadFile | undefined {
  if (!isFields(value)) return undefined;
  const { path, bytes, sha256, modifiedAt } = value;
  if (typeof path !== "string" || !isSafePath(path) || !isCount(bytes) || typeof sha256 !== "string") return undefined;
  const parts = toList(value.parts).filter(
    (part): part is HeadPart => isFields(part) && isHash(part.sha256) && isCount(part.bytes),
  );
  if (parts.reduce((sum, part) => sum + part.bytes, 0) !== bytes) return undefined;
  return {
    path,
    bytes,
    sha256,
    modifiedAt: toText(modifiedAt),
    parts: parts.map((part) => ({ sha256: part.sha256, bytes: part.bytes })),
  };
}

const toTextOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

const isHash = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Anybody who knows the recipient can write a head, so no path may leave the home. */
const isSafePath = (path: string): boolean =>
  path !== "" && !/[\\\0:]/.test(path) && path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
