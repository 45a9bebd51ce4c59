import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { readFolders } from "./folders.ts";
import { copiedLines } from "./forks.ts";
import { KimiSession, source } from "./session.ts";

const log = "wire.jsonl";

/**
 * Kimi Code: a log of JSON lines for each agent, `sessions/PROJECT/SESSION/agents/AGENT/wire.jsonl`, and the session's
 * `state.json`.
 *
 * - What was typed stands in the log twice: as the turn's prompt, and as a message, which alone is read.
 * - The main agent's log is the session; every other agent's is a session of its own that names it.
 * - Tokens are counted for a step, at its end.
 * - A fork begins with its source's lines, copied up to one of type `forked`.
 * - Sessions that were taken over from Kimi CLI have whole messages instead of steps, without times and tokens.
 */
export const kimi: Adapter = {
  name: source,
  title: "Kimi Code",
  version: 5,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) yield* findFiles(path, (name) => name === log);
  },
  async parse(input, sink) {
    const folder = dirname(input.path);
    const isOfAgent = basename(dirname(folder)) === "agents";
    const sessionFolder = isOfAgent ? dirname(dirname(folder)) : folder;
    const sessionId = basename(sessionFolder);
    const agent = isOfAgent && basename(folder) !== "main" ? basename(folder) : undefined;
    const read = await readJsonFile(join(sessionFolder, "state.json"));
    const state = isFields(read) ? read : {};
    const copied = state.forkedFrom === undefined ? 0 : await copiedLines(input.path);
    const session = new KimiSession(sink, agent === undefined ? sessionId : `${sessionId}/${agent}`, sessionId);
    await readRecords(input.path, sink, (record, line) => session.add(record, line <= copied));
    const [home] = /^.*(?=[\\/]sessions[\\/])/.exec(sessionFolder) ?? [];
    session.end(state, agent, home === undefined ? undefined : (await readFolders(home)).get(sessionId));
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.KIMI_CODE_HOME;
  if (named) return [{ path: join(named, "sessions"), variable: "KIMI_CODE_HOME" }];
  return [{ path: join(home, ".kimi-code", "sessions") }];
}
