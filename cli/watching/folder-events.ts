import { type FSWatcher, statfsSync, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { isMissingOrForbidden } from "../files/discovery.ts";

/** @param name undefined if it is unknown, or if the whole folder is new */
type OnChange = (folder: string, name: string | undefined) => void;

/**
 * Remote file systems by their statfs(2) types, on which Linux reports only local changes: NFS, SMB, CIFS, SMB2, FUSE,
 * 9P, AFS, Ceph.
 */
const remoteTypes = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x5346414f, 0x00c36400]);
const maxWatchers = 16_384;

/** macOS and Windows watch whole trees; other systems watch each folder. */
export class FolderEvents {
  readonly #onChange: OnChange;
  readonly #isRecursive: boolean;
  #wanted = new Set<string>();
  readonly #watchers = new Map<string, { watcher: FSWatcher; isDeep: boolean }>();
  /** Wanted folders whose trees may be watched. */
  #deep: ReadonlySet<string> = new Set();
  readonly #identities = new Map<string, string>();
  /** By device. */
  readonly #remote = new Map<number, boolean>();
  /** Wanted folders that the system can't watch. */
  readonly unwatched = new Set<string>();
  problem: "limit" | "remote" | undefined;

  constructor(onChange: OnChange, isRecursive = process.platform === "darwin" || process.platform === "win32") {
    this.#onChange = onChange;
    this.#isRecursive = isRecursive;
  }

  /**
   * @param deep folders whose trees may be watched; in others, such as a home, too much happens
   * @returns newly watched folders, which may have changed
   */
  watch(folders: Iterable<string>, deep: ReadonlySet<string>): string[] {
    this.#wanted = new Set(folders);
    this.#deep = deep;
    this.unwatched.clear();
    for (const folder of this.#watchers.keys()) {
      if (!this.#wanted.has(folder) || this.#isOther(folder)) this.#close(folder);
    }
    this.#identities.clear();
    return [...this.#wanted].sort().filter((folder) => {
      this.#identities.set(folder, readIdentity(folder));
      return !this.#covers(folder) && this.#add(folder);
    });
  }

  /** Finds folders that appeared, disappeared or were replaced without an event. */
  check(): void {
    for (const folder of this.#wanted) {
      const isTold = this.#covers(folder) && this.#wanted.has(dirname(folder));
      if (isTold || this.unwatched.has(folder) || !this.#isOther(folder)) continue;
      this.#replace(folder);
    }
  }

  close(): void {
    for (const folder of this.#watchers.keys()) this.#close(folder);
  }

  #covers(folder: string): boolean {
    if (this.#watchers.has(folder)) return true;
    for (let at = folder; this.#isRecursive && at !== dirname(at); at = dirname(at)) {
      if (this.#watchers.get(dirname(at))?.isDeep) return true;
    }
    return false;
  }

  #add(folder: string): boolean {
    try {
      if (this.#isRemote(folder)) return this.#leave(folder, "remote");
      if (this.#watchers.size >= maxWatchers) return this.#leave(folder, "limit");
      const isDeep = this.#isRecursive && this.#deep.has(folder);
      const watcher = watch(folder, { recursive: isDeep, persistent: false }, (kind, name) =>
        this.#notice(folder, kind, name ?? undefined),
      );
      watcher.on("error", () => this.#replace(folder));
      this.#watchers.set(folder, { watcher, isDeep });
      return true;
    } catch (error) {
      if (isMissingOrForbidden(error)) return false; // `check`, or the folder above it, notices when that changes
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
    // A deleted or moved folder is reported by its own name, too.
    for (const one of kind === "rename" ? [path, watched] : []) {
      if (this.#isOther(one)) this.#replace(one);
    }
    if (this.#wanted.has(folder))
      this.#onChange(folder, name === undefined ? undefined : path.slice(folder.length + 1));
    else if (this.#wanted.has(path)) this.#onChange(path, undefined);
  }

  #isOther(path: string): boolean {
    return this.#wanted.has(path) && this.#identities.get(path) !== readIdentity(path);
  }

  /** Other adapters may want the folders below, so each is reported. */
  #replace(folder: string): void {
    const below = [...this.#wanted].filter((one) => one === folder || one.startsWith(join(folder, "/")));
    for (const one of below) this.#close(one);
    for (const one of below.sort()) {
      this.#identities.set(one, readIdentity(one));
      if (!this.#covers(one)) this.#add(one);
      this.#onChange(one, undefined);
    }
  }

  #close(folder: string): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }
}

/** Empty if there is no accessible folder. The birth time is included because inode numbers are reused. */
function readIdentity(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isDirectory() ? `${found.dev}:${found.ino}:${found.birthtimeMs}` : "";
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
