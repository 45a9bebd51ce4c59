import { type FSWatcher, statfsSync, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { isMissingOrForbidden } from "../files/discovery.ts";

/** @param name the entry that changed; undefined where the system does not say, or all of the folder is new */
type OnChange = (folder: string, name: string | undefined) => void;

/** Linux tells nothing of what other machines do on these, by the types of statfs(2): NFS, SMB, CIFS, SMB2, FUSE, 9P, AFS, Ceph. */
const remoteTypes = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x5346414f, 0x00c36400]);
const maxWatchers = 16_384;

/**
 * Tells of changes in folders by events of the system: macOS and Windows watch whole trees, of which only the wanted folders
 * are told; other systems watch each folder by itself.
 */
export class FolderEvents {
  readonly #onChange: OnChange;
  readonly #isRecursive: boolean;
  #wanted = new Set<string>();
  readonly #watchers = new Map<string, { watcher: FSWatcher; identity: string }>();
  /** The identities of folders that nothing else tells of: no wanted one is above them. */
  readonly #tops = new Map<string, string>();
  /** By their devices. */
  readonly #remote = new Map<number, boolean>();
  /** The wanted folders of which the system can't tell. */
  readonly unwatched = new Set<string>();
  /** Why that is so. */
  problem: "limit" | "remote" | undefined;

  constructor(onChange: OnChange, isRecursive = process.platform === "darwin" || process.platform === "win32") {
    this.#onChange = onChange;
    this.#isRecursive = isRecursive;
  }

  /** Watches these folders, whether they exist or not. @returns those that were not watched before: they may have changed */
  watch(folders: Iterable<string>): string[] {
    this.#wanted = new Set(folders);
    this.unwatched.clear();
    for (const folder of this.#watchers.keys()) if (!this.#wanted.has(folder)) this.#close(folder);
    this.#tops.clear();
    const added: string[] = [];
    for (const folder of [...this.#wanted].sort()) {
      if (!this.#wanted.has(dirname(folder))) this.#tops.set(folder, identityOf(folder));
      if (!this.#covers(folder) && this.#add(folder)) added.push(folder);
    }
    return added;
  }

  /** Looks for folders that have appeared, gone, or been replaced without an event. */
  check(): void {
    for (const [folder, before] of this.#tops) {
      const identity = identityOf(folder);
      if (identity === before) continue;
      this.#tops.set(folder, identity);
      this.#replace(folder);
      this.#onChange(folder, undefined);
    }
  }

  close(): void {
    for (const folder of this.#watchers.keys()) this.#close(folder);
  }

  #covers(folder: string): boolean {
    if (this.#watchers.has(folder)) return true;
    const above = dirname(folder);
    return this.#isRecursive && above !== folder && this.#covers(above);
  }

  /** @returns whether it is now watched */
  #add(folder: string): boolean {
    try {
      if (this.#isRemote(folder)) return this.#leave(folder, "remote");
      if (this.#watchers.size >= maxWatchers) return this.#leave(folder, "limit");
      const watcher = watch(folder, { recursive: this.#isRecursive, persistent: false }, (kind, name) =>
        this.#notice(folder, kind, name ?? undefined),
      );
      watcher.on("error", () => this.#replace(folder));
      this.#watchers.set(folder, { watcher, identity: identityOf(folder) });
      return true;
    } catch (error) {
      if (isMissingOrForbidden(error)) return false; // `check`, or the folder above it, tells when that changes
      if (isRefused(error)) return this.#leave(folder, "limit");
      throw error;
    }
  }

  #leave(folder: string, problem: FolderEvents["problem"]): false {
    this.unwatched.add(folder);
    this.problem ??= problem;
    return false;
  }

  #isRemote(folder: string): boolean {
    if (process.platform !== "linux") return false;
    const { dev } = statSync(folder);
    const isRemote = this.#remote.get(dev) ?? remoteTypes.has(statfsSync(folder).type);
    this.#remote.set(dev, isRemote);
    return isRemote;
  }

  #notice(watched: string, kind: string, name: string | undefined): void {
    const path = name === undefined ? watched : join(watched, name);
    const folder = name === undefined ? watched : dirname(path);
    // A folder is told of when it is deleted or moved, too, by its own name.
    if (kind === "rename") for (const one of [path, watched]) if (this.#isOther(one)) this.#replace(one);
    if (this.#wanted.has(folder))
      this.#onChange(folder, name === undefined ? undefined : path.slice(folder.length + 1));
    else if (this.#wanted.has(path)) this.#onChange(path, undefined);
  }

  /** Whether something else, or nothing, stands where a watched folder was. */
  #isOther(path: string): boolean {
    const watched = this.#watchers.get(path);
    return watched !== undefined && watched.identity !== identityOf(path);
  }

  /** Watches a folder and those below it anew, as far as they exist. */
  #replace(folder: string): void {
    const below = [...this.#wanted].filter((one) => one === folder || one.startsWith(join(folder, "/")));
    for (const one of below) this.#close(one);
    for (const one of below.sort()) if (!this.#covers(one)) this.#add(one);
  }

  #close(folder: string): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }
}

/** Empty where there is no folder, or it may not be looked at. */
function identityOf(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isDirectory() ? `${found.dev}:${found.ino}` : "";
  } catch (error) {
    if (isMissingOrForbidden(error)) return "";
    throw error;
  }
}

/** Systems limit the number of watched folders, and some can't watch at all. */
const isRefused = (error: unknown): boolean =>
  ["ENOSPC", "EMFILE", "ENFILE", "ENOMEM", "ENOSYS", "EINVAL", "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM"].includes(
    (error as NodeJS.ErrnoException).code ?? "",
  );
