import { basename, dirname, join } from "node:path";
import { findFiles, listFolder } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { getHomeRoot } from "../search-roots.ts";
import { asFields, asString } from "../values.ts";
import { findOriginals } from "./forks.ts";
import { readRuns } from "./requests.ts";
import { QwenSession, type SessionAgents, source } from "./session.ts";

const maxAgents = 1000;

/**
 * All branches of the tree (`parentUuid`) are kept, in the order of writing. A background agent's transcript becomes a
 * separate session. Requests without an answer are in a session's events and in `usage_record.jsonl`. Token counts
 * include cached ones.
 */
export const qwen: Adapter = {
  name: source,
  title: "Qwen Code",
  version: 7,
  getSearchRoots,
  async *discover(host) {
    for (const { path } of getSearchRoots(host)) {
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl"))) {
        const chats = findChatsFolder(input.path);
        if (chats) {
          // A run is recorded after the last line of its session's file.
          const runs = (await readRuns(getRunsFile(chats))).get(basename(input.path, ".jsonl"));
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

function findChatsFolder(path: string): string | undefined {
  const folder = dirname(path);
  const chats = basename(folder) === "archive" ? dirname(folder) : folder;
  return basename(chats) === "chats" && /^[^.]+\.jsonl$/.test(basename(path)) ? chats : undefined;
}

function parseAgentPath(path: string): { sessionId: string; id: string } | undefined {
  const [, id] = /^agent-(.+)\.jsonl$/.exec(basename(path)) ?? [];
  const folder = dirname(path);
  return id && basename(dirname(folder)) === "subagents" ? { sessionId: basename(folder), id } : undefined;
}

const getRunsFile = (chats: string): string => join(chats, "..", "..", "..", "usage_record.jsonl");

async function readOwn(input: Input, chats: string, name: string) {
  const runs = (await readRuns(getRunsFile(chats))).get(name) ?? [];
  return {
    runs,
    findOriginal: await findOriginals(input),
    ...(await findAgents(join(chats, "..", "subagents", name), name)),
  };
}

async function findAgents(folder: string, sessionId: string): Promise<SessionAgents> {
  const [byCall, transcripts] = [new Map<string, string>(), new Set<string>()];
  for (const { name } of (await listFolder(folder)).slice(0, maxAgents)) {
    const [, transcript] = /^agent-(.+)\.jsonl$/.exec(name) ?? [];
    if (transcript) transcripts.add(transcript);
    const [, id] = /^agent-(.+)\.meta\.json$/.exec(name) ?? [];
    const meta = id ? await readJsonFile(join(folder, name)) : undefined;
    const call = asString(asFields(meta).toolUseId);
    if (call && id) byCall.set(call, `${sessionId}/${id}`);
  }
  return { byCall, transcripts };
}

function getSearchRoots(host: Host): SearchRoot[] {
  return [getHomeRoot(host, host.env.QWEN_RUNTIME_DIR ? "QWEN_RUNTIME_DIR" : "QWEN_HOME", ".qwen", "projects")];
}
