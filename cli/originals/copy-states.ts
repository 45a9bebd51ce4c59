import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import type { HeadPart } from "./format.ts";

export type KnownFile = {
  name: string;
  bytes: number;
  sha256: string;
  modifiedAt: number;
  /** `SourceFile.stamp` when it was sent; empty while parts are missing. */
  stamp: string;
  parts: HeadPart[];
};

export type CopyState = {
  recipient: string;
  /** Undefined if the server is not known to have a copy. */
  version: string | undefined;
  files: KnownFile[];
  sentAt?: number;
  /** Stamps of the files for which another machine's copy was kept. */
  refused?: string;
};

/** A cache that may be deleted at any time. */
export class CopyStates {
  readonly #folder: string;

  constructor(host: Host, account: string) {
    const name = createHash("sha256").update(account).digest("hex").slice(0, 24);
    this.#folder = join(stateFolder(host), `originals-${name}`);
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

  async write(key: string, state: CopyState): Promise<void> {
    try {
      await writeFileAtomically(this.#getPath(key), JSON.stringify({ format: 1, key, ...state }));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
  }
}
