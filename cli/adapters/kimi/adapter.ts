import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { KimiSession, source } from "./session.ts";

const log = "wire.jsonl";

/**
 * Kimi Code: a log of JSON lines for each agent, `sessions/PROJECT/SESSION/agents/AGENT/wire.jsonl`, and the session's
 * `state.json`.
 *
 * - What was typed stands in the log twice: as the turn's prompt, and as a message, which alone is read.
 * - The main agent's log is the session; every other agent's is a session of its own that names it.
 * - Tokens are counted for a step, at its end.
 */
export const kimi: Adapter = {
  name: source,
  title: "Kimi Code",
  version: 2,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) yield* findFiles(path, (name) => name === log);
  },
  async parse(input, sink) {
    const folder = dirname(input.path);
    const isOfAgent = basename(dirname(folder)) === "agents";
    const sessionFolder = isOfAgent ? dirname(dirname(folder)) : folder;
    const sessionId = basename(sessionFolder);
    const isMain = !isOfAgent || basename(folder) === "main";
    const session = new KimiSession(sink, isMain ? sessionId : `${sessionId}/${basename(folder)}`, sessionId);
    await readRecords(input.path, sink, (record) => session.add(record));
    const state = await readJsonFile(join(sessionFolder, "state.json"));
    session.end(isMain ? state : undefined);
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.KIMI_CODE_HOME;
  if (named) return [{ path: join(named, "sessions"), variable: "KIMI_CODE_HOME" }];
  return [{ path: join(home, ".kimi-code", "sessions") }];
}
