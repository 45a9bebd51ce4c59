import { createHash } from "node:crypto";
import type { Api } from "../server/api.ts";
import { getOriginal, getPart, type ListedOriginal } from "./client.ts";
import type { SessionFiles, SourceFile } from "./collect.ts";
import { isPrefix } from "./file-parts.ts";
import { decodeHead, decodePart, type HeadFile, hashBytes } from "./format.ts";

export type Verdict = "same" | "grown" | "gone" | "changed" | "differs" | "damaged";

export type Verified = { verdict: Verdict; files: number; reason?: string };

type Source = { api: Api; secret: string };

/**
 * Compares a copy with the hashes in its head and with local files.
 *
 * @param local undefined if this machine lacks the session's files
 */
export async function verifyOriginal(
  { source, sourceId }: Pick<ListedOriginal, "source" | "sourceId">,
  local: SessionFiles | undefined,
  from: Source,
): Promise<Verified | undefined> {
  const stored = await getOriginal(from.api, source, sourceId);
  if (!stored) return undefined;
  const head = await decodeHead(stored.head, from.secret);
  const damaged = (reason: string): Verified => ({ verdict: "damaged", files: head.files.length, reason });
  if (head.agent !== source || head.sourceId !== sourceId) return damaged(`it is a copy of ${head.sourceId}`);
  const main = head.files[0]?.path ?? "";
  const folder = main.slice(0, main.lastIndexOf("/") + 1);
  let worst: Verdict = "same";
  for (const file of head.files) {
    const fault = await findFault(file, from);
    if (fault) return damaged(`${file.path}: ${fault}`);
    const here = local?.files.find(({ name }) => name === file.path.slice(folder.length));
    worst = max(worst, await compare(file, here, Date.parse(head.writtenAt)));
  }
  return { verdict: worst, files: head.files.length };
}

const order: readonly Verdict[] = ["same", "grown", "gone", "changed", "differs", "damaged"];
const max = (a: Verdict, b: Verdict): Verdict => (order.indexOf(a) >= order.indexOf(b) ? a : b);

async function findFault({ parts, bytes, sha256 }: HeadFile, { api, secret }: Source): Promise<string | undefined> {
  const hash = createHash("sha256");
  let read = 0;
  for (const part of parts) {
    const sealed = await getPart(api, part.sha256);
    if (!sealed) return `the server has no part ${part.sha256.slice(0, 8)}`;
    if (hashBytes(sealed) !== part.sha256) return `part ${part.sha256.slice(0, 8)} has changed`;
    const plain = await decodePart(sealed, secret);
    hash.update(plain);
    read += plain.length;
  }
  return read === bytes && hash.digest("hex") === sha256 ? undefined : "its parts are not what was sent";
}

async function compare(file: HeadFile, here: SourceFile | undefined, writtenAt: number): Promise<Verdict> {
  if (!here) return "gone";
  const opened = await here.open();
  try {
    if (await isPrefix(opened, file)) return opened.bytes === file.bytes ? "same" : "grown";
    return here.modifiedAt > writtenAt ? "changed" : "differs";
  } finally {
    await opened.close();
  }
}
