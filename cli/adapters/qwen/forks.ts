import { basename, dirname, join } from "node:path";
import { readBeginningOrNothing } from "../../files/byte-reader.ts";
import { statInput } from "../../files/discovery.ts";
import { type Fields, isFields } from "../../files/json.ts";
import { readLines } from "../../files/line-reader.ts";
import type { Input } from "../adapter.ts";
import { silentSink } from "../sinks.ts";
import { asString } from "../values.ts";

/** Undefined if only this session has the record. */
export type FindOriginal = (record: Fields) => string | undefined;

/** A record is a copy if its original has it, or is gone from this machine and on the server. */
export async function findOriginals({ path, isStored }: Input): Promise<FindOriginal> {
  const beginning = readBeginningOrNothing(path);
  // A first line may be longer than the beginning.
  if (beginning.includes("\n") && !beginning.includes('"forkedFrom"')) return () => undefined;
  const records = new Map<string, (uuid: string) => boolean>();
  const own = basename(path, ".jsonl");
  for (const id of await findAll(path, /"forkedFrom":\s*\{[^{}]*"sessionId":\s*"([\w-]{1,128})"/)) {
    const file = id === own ? undefined : await findFile(path, id);
    const uuids = file === undefined ? undefined : await findAll(file, /"uuid":\s*"([^"\\]{1,64})"/);
    const isGone = file === undefined && isStored?.(id) === true;
    records.set(id, (uuid) => uuids?.has(uuid) ?? isGone);
  }
  return ({ uuid, forkedFrom }) => {
    if (!isFields(forkedFrom)) return undefined;
    const [id, copied] = [asString(forkedFrom.sessionId), asString(forkedFrom.messageUuid) ?? asString(uuid)];
    return id !== undefined && copied !== undefined && records.get(id)?.(copied) ? id : undefined;
  };
}

/** The file may also be in the archive, or in the folder above it. */
async function findFile(path: string, id: string): Promise<string | undefined> {
  const folder = dirname(path);
  for (const other of [folder, join(folder, "archive"), dirname(folder)]) {
    const file = join(other, `${id}.jsonl`);
    if (await statInput(file)) return file;
  }
  return undefined;
}

async function findAll(path: string, pattern: RegExp): Promise<Set<string>> {
  const found = new Set<string>();
  const take = (line: string) => {
    const text = pattern.exec(line)?.[1];
    if (text) found.add(text);
  };
  await readLines(path, take, silentSink);
  return found;
}
