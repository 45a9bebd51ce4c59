import { createHash } from "node:crypto";
import type { Api } from "../server/api.ts";
import { getOriginal, type ListedOriginal } from "./client.ts";
import type { SessionFiles, SourceFile } from "./collect.ts";
import { isPrefix } from "./file-parts.ts";
import { decodeHead, type HeadFile } from "./format.ts";
import { readCopied } from "./read-copied.ts";

export type Verdict = "same" | "grown" | "gone" | "changed" | "differs" | "damaged";

export type Verified = { verdict: Verdict; reason?: string };

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
  if (head.agent !== source || head.sourceId !== sourceId)
    return { verdict: "damaged", reason: `it is a copy of ${head.sourceId}` };
  const main = head.files[0]?.path ?? "";
  const folder = main.slice(0, main.lastIndexOf("/") + 1);
  let worst: Verdict = "same";
  for (const file of head.files) {
    if (!(await isWhole(file, from))) return { verdict: "damaged", reason: `${file.path} is not what was sent` };
    const here = local?.files.find(({ name }) => name === file.path.slice(folder.length));
    worst = max(worst, await compare(file, here, Date.parse(head.writtenAt)));
  }
  return { verdict: worst };
}

const order: readonly Verdict[] = ["same", "grown", "gone", "changed", "differs", "damaged"];
const max = (a: Verdict, b: Verdict): Verdict => (order.indexOf(a) >= order.indexOf(b) ? a : b);

async function isWhole(file: HeadFile, { api, secret }: Source): Promise<boolean> {
  const hash = createHash("sha256");
  for await (const plain of readCopied(api, file, secret)) hash.update(plain);
  return hash.digest("hex") === file.sha256;
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
