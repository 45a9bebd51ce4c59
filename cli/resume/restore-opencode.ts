// OpenCode keeps sessions in a database; only its own import writes to it.
import { createHash } from "node:crypto";
import { access, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Host } from "../adapters/adapter.ts";
import { hasSqlite } from "../adapters/sqlite.ts";
import { CommandError } from "../errors.ts";
import { readMessages, startsWith } from "../originals/messages.ts";
import { listFamily, readExport } from "../originals/opencode.ts";
import type { Agent } from "./agents.ts";
import { start } from "./programs.ts";
import type { PlannedFile, RestoredFile } from "./restore-files.ts";

export const isOpencodeFile = (path: string): boolean => /^export\/ses_\w+\.json$/.test(path);

/**
 * Imports into the current folder's project, then compares the database with the copy.
 *
 * @throws CommandError if OpenCode has the session and it is not a prefix of the copy, because imports only add
 */
export async function restoreOpencode(
  host: Host,
  agent: Agent,
  files: readonly PlannedFile[],
): Promise<RestoredFile[]> {
  const database = join(agent.getHome(host), "opencode.db");
  const staging = await mkdtemp(join(tmpdir(), "spoor-resume-"));
  try {
    const staged: { file: PlannedFile; path: string; messages: unknown[]; known: unknown[] | undefined }[] = [];
    for (const [at, file] of files.entries()) {
      const path = join(staging, `${at}.json`);
      const messages = readMessages(await stage(path, file));
      const known = await readStored(database, file);
      if (known && !isSameStart(known, messages))
        throw new CommandError("failed", `OpenCode already has ${getId(file)}, and it differs. Delete it there first.`);
      staged.push({ file, path, messages, known });
    }
    const restored: RestoredFile[] = [];
    for (const { file, path, messages, known } of staged) {
      const { path: name, bytes } = file;
      const more = messages.length - (known?.length ?? 0);
      const wrote = !known ? "new" : more > 0 ? "continued" : more < 0 ? "kept" : "same";
      restored.push({ path: name, bytes, wrote });
      if (wrote === "same" || wrote === "kept") continue;
      const { code, output } = await start(host, [agent.command, "import", path], "pipe");
      if (code !== 0)
        throw new CommandError("failed", `OpenCode did not import ${getId(file)}: ${output.slice(0, 500)}`);
      const stored = await readStored(database, file);
      if (hasSqlite() && !isDeepStrictEqual(stored, messages))
        throw new CommandError("failed", `OpenCode stored ${getId(file)} differently from the copy.`);
    }
    return restored;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

const isSameStart = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length < other.length ? startsWith(other, one) : startsWith(one, other);

const getId = ({ path }: PlannedFile): string => path.replace(/^.*\/|\.json$/g, "");

async function stage(path: string, { path: name, sha256, read }: PlannedFile): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of read()) parts.push(part);
  const bytes = Buffer.concat(parts);
  if (createHash("sha256").update(bytes).digest("hex") !== sha256)
    throw new CommandError("failed", `The copy of ${name} is damaged: its hash is wrong. Nothing was restored.`);
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
  } finally {
    await file.close();
  }
  return bytes;
}

/** @returns undefined if the session is missing or this Node can't read the database */
async function readStored(database: string, file: PlannedFile): Promise<unknown[] | undefined> {
  const isThere = await access(database).then(
    () => true,
    () => false,
  );
  if (!isThere || !hasSqlite()) return undefined;
  const known = (await listFamily(database, getId(file))).some(({ id }) => id === getId(file));
  return known ? readMessages(await readExport(database, getId(file))) : undefined;
}
