import { basename, dirname, join } from "node:path";
import { findFiles, listFolder } from "../../files/discovery.ts";
import { isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { asString } from "../values.ts";
import { QwenSession, source } from "./session.ts";

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
 * - Content has the shape of Gemini's API (`parts`); token counts include those from the cache.
 */
export const qwen: Adapter = {
  name: source,
  title: "Qwen Code",
  version: 4,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl"))) {
        if (chatsOf(input.path) || agentOf(input.path) || input.stamp === "forbidden") yield input;
      }
    }
  },
  async parse(input, sink) {
    const name = basename(input.path, ".jsonl");
    const agent = agentOf(input.path);
    const session = agent
      ? new QwenSession(sink, `${agent.sessionId}/${agent.id}`, agent.sessionId)
      : new QwenSession(
          sink,
          name,
          undefined,
          await agentsOf(join(chatsOf(input.path) ?? "", "..", "subagents", name), name),
        );
    if (agent) session.noteAgent(await readJsonFile(input.path.replace(/\.jsonl$/, ".meta.json")));
    await readRecords(input.path, sink, (record) => session.add(record));
    session.end();
  },
};

/** The folder of chats that a session is in, or in the archive of; undefined for any other file, such as a session's ledgers. */
function chatsOf(path: string): string | undefined {
  const folder = dirname(path);
  const chats = basename(folder) === "archive" ? dirname(folder) : folder;
  return basename(chats) === "chats" && /^[^.]+\.jsonl$/.test(basename(path)) ? chats : undefined;
}

/** The agent that a transcript is of, in `subagents/SESSION/agent-ID.jsonl`; undefined for any other file. */
function agentOf(path: string): { sessionId: string; id: string } | undefined {
  const [, id] = /^agent-(.+)\.jsonl$/.exec(basename(path)) ?? [];
  const folder = dirname(path);
  return id && basename(dirname(folder)) === "subagents" ? { sessionId: basename(folder), id } : undefined;
}

/** The `sourceId`s of a session's agents, by the calls that started them. */
async function agentsOf(folder: string, sessionId: string): Promise<Map<string, string>> {
  const agents = new Map<string, string>();
  for (const { name } of (await listFolder(folder)).slice(0, maxAgents)) {
    const [, id] = /^agent-(.+)\.meta\.json$/.exec(name) ?? [];
    const meta = id ? await readJsonFile(join(folder, name)) : undefined;
    const call = isFields(meta) ? asString(meta.toolUseId) : undefined;
    if (call && id) agents.set(call, `${sessionId}/${id}`);
  }
  return agents;
}

function searchRoots({ home, env }: Host): SearchRoot[] {
  const variable = ["QWEN_RUNTIME_DIR", "QWEN_HOME"].find((name) => env[name]);
  if (variable) return [{ path: join(env[variable] ?? "", "projects"), variable }];
  return [{ path: join(home, ".qwen", "projects") }];
}
