import { createHash } from "node:crypto";
import { type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Checkpoint, Host, Resumption } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isFileSystemError } from "../files/discovery.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import { type AdapterInput, inputKey } from "../sessions/inputs.ts";
import type { SentState } from "../sessions/session.ts";

const MiB = 1024 * 1024;
/** A smaller file is read whole, which is fast and finds every change. */
const minFileBytes = 8 * MiB;
const comparedBytes = 64 * 1024;
/** Reading a file whole after this growth keeps the cost proportional to the growth. */
const wholeAfterGrowth = 1 / 8;
const maxFiles = 64;
const maxSegments = 512;

type StoredCheckpoint = {
  version: 1;
  adapterVersion: number;
  inode: string;
  wholeBytes: number;
  compared: string;
  key: string;
  digest: string;
  at: Checkpoint;
};

/** Each has a separate file, because it changes with every line. They may be deleted at any time. */
export class Checkpoints {
  readonly #folder: string;
  readonly #account: string;

  constructor(host: Host, account: string) {
    this.#folder = join(stateFolder(host), "checkpoints");
    this.#account = account;
  }

  #getPath(input: AdapterInput): string {
    const name = createHash("sha256")
      .update(`${this.#account}\n${inputKey(input)}`)
      .digest("hex")
      .slice(0, 32);
    return join(this.#folder, `${name}.json`);
  }

  async find(input: AdapterInput, getState: (key: string) => SentState | undefined): Promise<ResumePoint | undefined> {
    if (input.bytes < minFileBytes) return undefined;
    const stored = (await readJsonFile(this.#getPath(input))) as StoredCheckpoint | undefined;
    if (!isFields(stored) || stored.version !== 1 || stored.adapterVersion !== input.adapter.version) return undefined;
    const { at, wholeBytes, inode, key, digest } = stored;
    const state = getState(key);
    const isSent = state !== undefined && state.hash !== "" && state.digest === digest;
    const isTime = input.bytes > wholeBytes * (1 + wholeAfterGrowth) || (state?.counts.length ?? 0) > maxSegments;
    if (!isSent || isTime || inode !== getInode(input) || input.bytes < at.offset) return undefined;
    if ((await hashComparedParts(input.path, at.offset)) !== stored.compared) return undefined;
    return { from: { ...at, messages: state.counts.at(-1) ?? 0 }, wholeBytes };
  }

  async save(
    input: AdapterInput,
    at: Checkpoint,
    { key, state, found }: { key: string; state: SentState; found: ResumePoint | undefined },
  ): Promise<void> {
    if (input.bytes < minFileBytes) return;
    const compared = await hashComparedParts(input.path, at.offset);
    if (compared === undefined) return;
    const stored: StoredCheckpoint = {
      version: 1,
      adapterVersion: input.adapter.version,
      inode: getInode(input),
      wholeBytes: found?.wholeBytes ?? at.offset,
      compared,
      key,
      digest: state.digest,
      at,
    };
    try {
      await writeFileAtomically(this.#getPath(input), JSON.stringify(stored));
      await this.#removeOld();
    } catch (error) {
      if (!(error instanceof CommandError) && !isFileSystemError(error)) throw error;
    }
  }

  async #removeOld(): Promise<void> {
    const names = await readdir(this.#folder);
    if (names.length <= maxFiles) return;
    const paths = names.map((name) => join(this.#folder, name));
    const files = await Promise.all(paths.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
    files.sort((a, b) => b.at - a.at);
    await Promise.all(files.slice(maxFiles).map(({ path }) => rm(path, { force: true })));
  }
}

export type ResumePoint = { from: Resumption; wholeBytes: number };

/** The stamp of another file may follow. */
const getInode = ({ stamp }: AdapterInput): string => stamp.split(/[: ]/)[2] ?? "";

/** Hashes a file's beginning and the bytes before an offset; undefined if it can't be read. */
async function hashComparedParts(path: string, offset: number): Promise<string | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    const hash = createHash("sha256");
    const length = Math.min(comparedBytes, offset);
    for (const position of [0, offset - length]) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
      hash.update(buffer.subarray(0, bytesRead));
    }
    return hash.digest("base64url");
  } catch (error) {
    if (isFileSystemError(error)) return undefined;
    throw error;
  } finally {
    await file?.close();
  }
}
