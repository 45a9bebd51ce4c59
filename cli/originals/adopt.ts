import type { StoredOriginal } from "./client.ts";
import type { SessionFiles } from "./collect.ts";
import type { CopyState, KnownFile } from "./copy-states.ts";
import { isPrefix } from "./file-parts.ts";
import { decodeHead, type Head } from "./format.ts";

/** Why a copy that this machine did not write stays as it is. */
export type Refusal = "longer" | "different" | "unreadable";

export type Own = { recipient: string; secret: string | undefined; machine: string };

/**
 * Decides about a copy that this machine does not know: files here that continue it are added to it, and it is replaced
 * only by what this machine itself has rewritten.
 */
export async function adoptOriginal(
  remote: StoredOriginal,
  local: SessionFiles,
  { recipient, secret, machine }: Own,
): Promise<CopyState | Refusal> {
  const replaced: CopyState = { recipient, version: remote.version, files: [] };
  const bytes = local.files.reduce((sum, file) => sum + file.bytes, 0);
  const isOwn = remote.machine === machine && isNewer(local, remote);
  // The key was replaced.
  if (remote.recipient !== recipient)
    return remote.machine === machine && bytes >= remote.plainBytes ? replaced : "unreadable";
  if (secret === undefined) return isOwn ? replaced : "unreadable";
  const files = listFiles(await decodeHead(remote.head, secret));
  const [main] = files;
  if (!main) return replaced;
  const first = local.files[0];
  const opened = await first?.open();
  try {
    if (opened && (await isPrefix(opened, main))) return { ...replaced, files };
    if (isOwn) return replaced;
    return opened && opened.bytes < main.bytes ? "longer" : "different";
  } finally {
    await opened?.close();
  }
}

/** Tells whether a file was written after the copy, by this machine's clock and the server's. */
const isNewer = (local: SessionFiles, { updatedAt }: StoredOriginal): boolean =>
  local.files.some(({ modifiedAt }) => modifiedAt > Date.parse(updatedAt));

/** The machine that wrote the copy may keep the session in another folder. */
function listFiles({ files }: Head): KnownFile[] {
  const main = files[0]?.path ?? "";
  const folder = main.slice(0, main.lastIndexOf("/") + 1);
  return files
    .filter(({ path }) => path.startsWith(folder))
    .map(({ path, bytes, sha256, modifiedAt, parts }) => ({
      name: path.slice(folder.length),
      bytes,
      sha256,
      modifiedAt: Date.parse(modifiedAt) || 0,
      stamp: "",
      parts,
    }));
}
