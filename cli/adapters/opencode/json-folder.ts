import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { readBeginning } from "../../files/byte-reader.ts";
import { findFiles, isMissingOrForbidden, listFolder, statInput } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import type { Input, Sink } from "../adapter.ts";
import { type Older, Originals } from "../originals.ts";
import { readObjectFile } from "../session-files.ts";
import { asFields } from "../values.ts";
import type { SessionStore } from "./session.ts";

/** A part that has grown is noticed when its message is written next, at the end of each step. */
export async function* findStoredSessions(storage: string): AsyncGenerator<Input> {
  for await (const input of findFiles(join(storage, "session"), (name) => /^ses_.*\.json$/.test(name))) {
    const id = basename(input.path, ".json");
    const stamp = createHash("sha256").update(input.stamp);
    let { bytes, modifiedAt } = input;
    for (const name of await listNames(join(storage, "message", id))) {
      const message = await statInput(join(storage, "message", id, `${name}.json`));
      stamp.update(`\n${name} ${message?.stamp} ${await getModifiedAt(join(storage, "part", name))}`);
      bytes += message?.bytes ?? 0;
      modifiedAt = Math.max(modifiedAt, message?.modifiedAt ?? 0);
    }
    yield { path: input.path, bytes, modifiedAt, stamp: stamp.digest("base64url") };
  }
}

export function openStorage(path: string, sink: Sink): SessionStore {
  const storage = dirname(dirname(dirname(path)));
  const id = basename(path, ".json");
  return {
    isNewer: false,
    async session() {
      const details = await readObjectFile(path, sink);
      return details && { ...details, worktree: await readWorktree(storage, basename(dirname(path))) };
    },
    originals: async () => new Originals(await findOlder(path)),
    messageIds: () => listNames(join(storage, "message", id)),
    message: (messageId) => readObjectFile(join(storage, "message", id, `${messageId}.json`), sink),
    async *parts(messageId) {
      const folder = join(storage, "part", messageId);
      for (const name of await listNames(folder)) {
        const part = await readObjectFile(join(folder, `${name}.json`), sink);
        if (part) yield part;
      }
    },
  };
}

const beginnings = new Map<string, number>();

/** The copies in a fork have the times of the originals. */
async function findOlder(path: string): Promise<Older<number>[]> {
  const first = await findBeginning(path);
  if (first === undefined) return [];
  const alike: { path: string; created: number }[] = [];
  for (const name of await listNames(dirname(path))) {
    const other = join(dirname(path), `${name}.json`);
    if ((await findBeginning(other)) === first) alike.push({ path: other, created: parseTime(readPart(other)) ?? 0 });
  }
  alike.sort((a, b) => a.created - b.created || (a.path < b.path ? -1 : 1));
  const older = alike.slice(
    0,
    alike.findIndex((one) => one.path === path),
  );
  return Promise.all(
    older.map(async ({ path: other }) => {
      const times = new Set((await listMessagePaths(other)).map((message) => parseTime(readPart(message))));
      return { sourceId: basename(other, ".json"), has: (time) => times.has(time) };
    }),
  );
}

async function listMessagePaths(path: string): Promise<string[]> {
  const folder = join(dirname(dirname(dirname(path))), "message", basename(path, ".json"));
  return (await listNames(folder)).map((name) => join(folder, `${name}.json`));
}

async function findBeginning(path: string): Promise<number | undefined> {
  const known = beginnings.get(path);
  if (known !== undefined) return known;
  const [first] = await listMessagePaths(path);
  const time = first === undefined ? undefined : parseTime(readPart(first));
  if (time !== undefined) beginnings.set(path, time);
  return time;
}

function readPart(path: string): string {
  try {
    return readBeginning(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall) return "";
    throw error;
  }
}

/** A message that is longer than its beginning may still have its time there. */
function parseTime(text: string): number | undefined {
  const value = parseJson(text);
  const time = isFields(value) && isFields(value.time) ? value.time.created : /"created":\s*(\d+)/.exec(text)?.[1];
  return time === undefined || !Number.isFinite(Number(time)) ? undefined : Number(time);
}

async function readWorktree(storage: string, project: string): Promise<unknown> {
  const path = join(storage, "project", `${project}.json`);
  if (!(await statInput(path))) return undefined;
  const details = parseJson(readBeginning(path));
  return asFields(details).worktree;
}

async function listNames(folder: string): Promise<string[]> {
  const names = (await listFolder(folder)).map(({ name }) => name);
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => basename(name, ".json"))
    .sort();
}

async function getModifiedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissingOrForbidden(error)) return 0;
    throw error;
  }
}
