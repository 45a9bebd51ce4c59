import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { readBeginning } from "../../files/byte-reader.ts";
import { findFiles, isMissingOrForbidden, listFolder, statInput } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readWholeFile } from "../../files/json-lines.ts";
import type { Input, Sink } from "../adapter.ts";
import type { Store } from "./store.ts";

/**
 * The sessions in a folder of JSON files: `session/PROJECT/SESSION.json`, `message/SESSION/MESSAGE.json` and
 * `part/MESSAGE/PART.json`. A part that has grown is noticed when its message is written next, at the end of each step.
 */
export async function* findStoredSessions(storage: string): AsyncGenerator<Input> {
  for await (const input of findFiles(join(storage, "session"), (name) => /^ses_.*\.json$/.test(name))) {
    const id = basename(input.path, ".json");
    const stamp = createHash("sha256").update(input.stamp);
    let { bytes, modifiedAt } = input;
    for (const name of await listNames(join(storage, "message", id))) {
      const message = await statInput(join(storage, "message", id, `${name}.json`));
      stamp.update(`\n${name} ${message?.stamp} ${await modifiedAtOf(join(storage, "part", name))}`);
      bytes += message?.bytes ?? 0;
      modifiedAt = Math.max(modifiedAt, message?.modifiedAt ?? 0);
    }
    yield { path: input.path, bytes, modifiedAt, stamp: stamp.digest("base64url") };
  }
}

/** Opens a session that `findStoredSessions` found. Invalid files are counted in the sink. */
export function openStorage(path: string, sink: Sink): Store {
  const storage = dirname(dirname(dirname(path)));
  const id = basename(path, ".json");
  return {
    isNewer: false,
    async session() {
      const details = await readFields(path, sink);
      return details && { ...details, worktree: await worktreeOf(storage, basename(dirname(path))) };
    },
    messageIds: () => listNames(join(storage, "message", id)),
    message: (messageId) => readFields(join(storage, "message", id, `${messageId}.json`), sink),
    async *parts(messageId) {
      const folder = join(storage, "part", messageId);
      for (const name of await listNames(folder)) {
        const part = await readFields(join(folder, `${name}.json`), sink);
        if (part) yield part;
      }
    },
  };
}

/** The folder of a project, which sessions of the first versions do not name themselves. */
async function worktreeOf(storage: string, project: string): Promise<unknown> {
  const path = join(storage, "project", `${project}.json`);
  if (!(await statInput(path))) return undefined;
  const details = parseJson(readBeginning(path));
  return isFields(details) ? details.worktree : undefined;
}

async function listNames(folder: string): Promise<string[]> {
  const names = (await listFolder(folder)).map(({ name }) => name);
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => basename(name, ".json"))
    .sort();
}

async function modifiedAtOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissingOrForbidden(error)) return 0;
    throw error;
  }
}

async function readFields(path: string, sink: Sink): Promise<Fields | undefined> {
  sink.entry();
  const text = await readWholeFile(path, sink);
  const value = text === undefined ? undefined : parseJson(text);
  if (isFields(value)) return value;
  sink.invalid(`${basename(path)} is not a JSON object`);
  return undefined;
}
