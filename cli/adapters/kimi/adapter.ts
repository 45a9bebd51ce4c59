import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { listFolder } from "../../files/discovery.ts";
import { makeLineIndex } from "../../files/file-cache.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readLines } from "../../files/line-reader.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Input } from "../adapter.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { getHomeRoot } from "../search-roots.ts";
import { silentSink } from "../sinks.ts";
import { asFields, asString } from "../values.ts";
import { KimiSession, source } from "./session.ts";

const log = "wire.jsonl";

export const kimi = makeFileAdapter({
  name: source,
  title: "Kimi Code",
  version: 5,
  getSearchRoots: (host) => [getHomeRoot(host, "KIMI_CODE_HOME", ".kimi-code", "sessions")],
  matches: (name) => name === log,
  async parse(input, sink) {
    const folder = dirname(input.path);
    const isAgent = basename(dirname(folder)) === "agents";
    const sessionFolder = isAgent ? dirname(dirname(folder)) : folder;
    const sessionId = basename(sessionFolder);
    const agent = isAgent && basename(folder) !== "main" ? basename(folder) : undefined;
    const state = asFields(await readJsonFile(join(sessionFolder, "state.json")));
    const original = asString(state.forkedFrom);
    const hasOriginal = original !== undefined && (await isThere(sessionFolder, original, input));
    const copied = hasOriginal ? await countCopiedLines(input.path) : 0;
    const session = new KimiSession(sink, agent === undefined ? sessionId : `${sessionId}/${agent}`, sessionId);
    await readRecords(input.path, sink, (record, line) => session.add(record, line <= copied));
    const [home] = /^.*(?=[\\/]sessions[\\/])/.exec(sessionFolder) ?? [];
    session.end(
      state,
      agent,
      home === undefined ? undefined : (await readFolders(join(home, "session_index.jsonl"))).get(sessionId),
    );
  },
});

async function isThere(fork: string, id: string, { isStored }: Input): Promise<boolean> {
  const sessions = dirname(dirname(fork));
  for (const { name } of await listFolder(sessions)) if (await isFolder(join(sessions, name, id))) return true;
  return isStored?.(id) === true;
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const readFolders = makeLineIndex(({ sessionId, workDir }) => [asString(sessionId), asString(workDir)]);

/** Counts the first lines of a fork, up to the latest one that says so, without parsing the others. */
async function countCopiedLines(path: string): Promise<number> {
  let copied = 0;
  const take = (line: string, number: number) => {
    if (/^\{"type":\s*"forked"/.test(line)) copied = number;
  };
  await readLines(path, take, silentSink);
  return copied;
}
