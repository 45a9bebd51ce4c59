import type { Api } from "../server/api.ts";
import type { StoredOriginal } from "./client.ts";
import type { OpenFile, SessionFiles } from "./collect.ts";
import type { CopyState, KnownFile } from "./copy-states.ts";
import { isPrefix } from "./file-parts.ts";
import { decodeHead, type Head } from "./format.ts";
import { continuesMessages } from "./messages.ts";
import { readCopied } from "./read-copied.ts";

export type Refusal = "longer" | "different" | "unreadable";

export type Own = { api: Api; recipient: string; secret: string | undefined; machine: string; device: string };

/** Local files that continue the copy extend it; only the machine that wrote a copy may replace it. */
export async function adoptOriginal(
  remote: StoredOriginal,
  local: SessionFiles,
  { api, recipient, secret, machine, device }: Own,
): Promise<CopyState | Refusal> {
  const replaced: CopyState = { recipient, version: remote.version, files: [] };
  const bytes = local.files.reduce((sum, file) => sum + file.bytes, 0);
  // The key was replaced.
  if (remote.recipient !== recipient)
    return remote.machine === machine && bytes >= remote.plainBytes ? replaced : "unreadable";
  // Two machines may have one name.
  if (secret === undefined) {
    const isOwn = remote.machine === machine && isNewer(local, remote) && bytes >= remote.plainBytes;
    return isOwn ? replaced : "unreadable";
  }
  const head = await decodeHead(remote.head, secret);
  const files = listFiles(head);
  const [main] = files;
  if (!main) return replaced;
  const first = local.files[0];
  const opened = await first?.open();
  try {
    if (opened && (await isPrefix(opened, main))) return { ...replaced, files };
    if (head.device === device && isNewer(local, remote)) return replaced;
    const isContinued = opened && local.isRewritten && (await continues(opened, main, { api, secret }));
    if (isContinued) return { ...replaced, files };
    return opened && opened.bytes < main.bytes ? "longer" : "different";
  } finally {
    await opened?.close();
  }
}

async function continues(file: OpenFile, main: KnownFile, { api, secret }: { api: Api; secret: string }) {
  if (file.bytes < main.bytes) return false;
  const copied: Uint8Array[] = [];
  for await (const part of readCopied(api, { path: main.name, parts: main.parts }, secret)) copied.push(part);
  return continuesMessages(file, Buffer.concat(copied));
}

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
