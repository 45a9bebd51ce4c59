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
/** A smaller file is read whole, which takes a tenth of a second and finds every change. */
const minFileBytes = 8 * MiB;
/** How much of a file's beginning, and of what stands before the checkpoint, is compared. */
const comparedBytes = 64 * 1024;
/** The file is read whole once it has grown by this part of what it was then: the cost stays in proportion to its growth. */
const wholeAfterGrowth = 1 / 8;
/** Of so many files, those that were read last. */
const maxFiles = 64;
/** A digest in so many segments is made again from the whole. */
const maxSegments = 512;

/** What is stored for one input: where its reading ended, and what the file and its session were then. */
type StoredCheckpoint = {
  version: 1;
  adapterVersion: number;
  inode: string;
  /** The size of the file when it was read whole. */
  wholeBytes: number;
  /** SHA-256 of the compared parts. */
  compared: string;
  key: string;
  digest: string;
  at: Checkpoint;
};

/**
 * Where the reading of large files ended, so that only what was added to them is read. Each is in a file of its own: it may
 * have a hundred kilobytes, and changes with every line. They may be deleted at any time.
 */
export class Checkpoints {
  readonly #folder: string;
  readonly #account: string;

  /** @param account the server and the user that sessions are sent to */
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

  /**
   * Where the reading of an input may continue; undefined where it must be read whole.
   *
   * @param getState what was sent of a session, by its key
   */
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

  /** Notes where the reading of an input ended. @param found where it began, unless it was read whole */
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
      // Without it the file is read whole the next time.
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

/** Where a reading begins, and the size of the file when it was read whole. */
export type ResumePoint = { from: Resumption; wholeBytes: number };

const getInode = ({ stamp }: AdapterInput): string => stamp.split(":")[2] ?? "";

/** The hash of a file's beginning and of what stands before an offset; undefined where it can't be read. */
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
