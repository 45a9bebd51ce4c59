import { basename, dirname, join } from "node:path";
import { findFiles, listFolder } from "../../files/discovery.ts";
import { isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { asString } from "../values.ts";
import { findOriginals } from "./forks.ts";
import { readRuns } from "./runs.ts";
import { type Agents, QwenSession, source } from "./session.ts";

/** So many entries of the folder of a session's agents are looked at. */
const maxAgents = 1000;

/**
 * Qwen Code: a file of JSON lines for each session, `projects/PROJECT/chats/ID.jsonl`, and `chats/archive/ID.jsonl` once it is
 * archived.
 *
 * - Records form a tree (`parentUuid`): after a rewind, what was taken back stays in the file. All of it is kept, in the order
 *   of writing.
 * - The file's name is the session's id; a fork's records name the session that they were copied from.
 * - A background agent's transcript is in `subagents/SESSION`, and becomes a session of its own.
 * - Requests that no answer tells are in a session's events and in `usage_record.jsonl`, the list of all runs that ended.
 * - Content has the shape of Gemini's API (`parts`); token counts include those from the cache.
 */
export const qwen: Adapter = {
  name: source,
  title: "Qwen Code",
  version: 7,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl"))) {
        const chats = findChatsFolder(input.path);
        if (chats) {
          // A run is recorded after the last line of its session's file.
          const runs = (await readRuns(runsBeside(chats))).get(basename(input.path, ".jsonl"));
          yield runs ? { ...input, stamp: `${input.stamp}|${runs.length}` } : input;
        } else if (parseAgentPath(input.path) || input.stamp === "forbidden") yield input;
      }
    }
  },
  async parse(input, sink) {
    const name = basename(input.path, ".jsonl");
    const agent = parseAgentPath(input.path);
    const session = agent
      ? new QwenSession(sink, `${agent.sessionId}/${agent.id}`, agent.sessionId)
      : new QwenSession(sink, name, undefined, await readOwn(input, findChatsFolder(input.path) ?? "", name));
    if (agent) session.noteAgent(await readJsonFile(input.path.replace(/\.jsonl$/, ".meta.json")));
    await readRecords(input.path, sink, (record) => session.add(record));
    session.end();
  },
};

/** The folder of chats that a session is in, or in the archive of; undefined for any other file, such as a session's ledgers. */
function findChatsFolder(path: string): string | undefined {
  const folder = dirname(path);
  const chats = basename(folder) === "archive" ? dirname(folder) : folder;
  return basename(chats) === "chats" && /^[^.]+\.jsonl$/.test(basename(path)) ? chats : undefined;
}

/** The agent that a transcript is of, in `subagents/SESSION/agent-ID.jsonl`; undefined for any other file. */
function parseAgentPath(path: string): { sessionId: string; id: string } | undefined {
  const [, id] = /^agent-(.+)\.jsonl$/.exec(basename(path)) ?? [];
  const folder = dirname(path);
  return id && basename(dirname(folder)) === "subagents" ? { sessionId: basename(folder), id } : undefined;
}

/** The list of all runs, beside the projects' folder. */
const runsBeside = (chats: string): string => join(chats, "..", "..", "..", "usage_record.jsonl");

async function readOwn(input: Input, chats: string, name: string) {
  const runs = (await readRuns(runsBeside(chats))).get(name) ?? [];
  return {
    runs,
    findOriginal: await findOriginals(input),
    ...(await findAgents(join(chats, "..", "subagents", name), name)),
  };
}

async function findAgents(folder: string, sessionId: string): Promise<Agents> {
  const [byCall, transcripts] = [new Map<string, string>(), new Set<string>()];
  for (const { name } of (await listFolder(folder)).slice(0, maxAgents)) {
    const [, transcript] = /^agent-(.+)\.jsonl$/.exec(name) ?? [];
    if (transcript) transcripts.add(transcript);
    const [, id] = /^agent-(.+)\.meta\.json$/.exec(name) ?? [];
    const meta = id ? await readJsonFile(join(folder, name)) : undefined;
    const call = isFields(meta) ? asString(meta.toolUseId) : undefined;
    if (call && id) byCall.set(call, `${sessionId}/${id}`);
  }
  return { byCall, transcripts };
}

function searchRoots({ home, env }: Host): SearchRoot[] {
  const variable = ["QWEN_RUNTIME_DIR", "QWEN_HOME"].find((name) => env[name]);
  if (variable) return [{ path: join(env[variable] ?? "", "projects"), variable }];
  return [{ path: join(home, ".qwen", "projects") }];
}
