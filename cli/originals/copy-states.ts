import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import type { HeadPart } from "./format.ts";

/** `bytes` and `sha256` are of what was sent, which may be the file's beginning. */
export type KnownFile = {
  name: string;
  bytes: number;
  sha256: string;
  modifiedAt: number;
  /** Of the file as it was sent; empty while parts are missing. */
  stamp: string;
  parts: HeadPart[];
};

/** What this machine knows of a session's copy on the server. */
export type CopyState = {
  recipient: string;
  /** Undefined if the server has none, as far as known. */
  version: string | undefined;
  files: KnownFile[];
  /** In milliseconds since 1970. */
  sentAt?: number;
  /** The stamps of files for which another machine's copy was left as it is. */
  refused?: string;
};

/** Each copy has a file of its own, because it changes with every line. They may be deleted at any time. */
export class CopyStates {
  readonly #folder: string;

  constructor(host: Host, account: string) {
    const name = createHash("sha256").update(account).digest("hex").slice(0, 24);
    this.#folder = join(stateFolder(host), `originals-${name}`);
  }

  /** A file with the id of the process that sends copies. */
  get turnPath(): string {
    return `${this.#folder}.sending`;
  }

  #getPath(key: string): string {
    return join(this.#folder, `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`);
  }

  async read(key: string): Promise<CopyState | undefined> {
    const found = await readJsonFile(this.#getPath(key));
    return isFields(found) && found.format === 1 && found.key === key && Array.isArray(found.files)
      ? (found as CopyState)
      : undefined;
  }

  /** Nothing depends on it: a copy that is not known is read from the server. */
  async write(key: string, state: CopyState): Promise<void> {
    try {
      await writeFileAtomically(this.#getPath(key), JSON.stringify({ format: 1, key, ...state }));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
  }
}
