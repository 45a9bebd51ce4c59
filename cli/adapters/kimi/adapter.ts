import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findFiles, listFolder } from "../../files/discovery.ts";
import { isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { asString } from "../values.ts";
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
 * - A fork begins with its source's lines, copied up to one of type `forked`: they count there, where that session is on this
 *   machine or the server, and else in the fork.
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
    const isAgent = basename(dirname(folder)) === "agents";
    const sessionFolder = isAgent ? dirname(dirname(folder)) : folder;
    const sessionId = basename(sessionFolder);
    const agent = isAgent && basename(folder) !== "main" ? basename(folder) : undefined;
    const read = await readJsonFile(join(sessionFolder, "state.json"));
    const state = isFields(read) ? read : {};
    const original = asString(state.forkedFrom);
    const hasOriginal = original !== undefined && (await isThere(sessionFolder, original, input));
    const copied = hasOriginal ? await copiedLines(input.path) : 0;
    const session = new KimiSession(sink, agent === undefined ? sessionId : `${sessionId}/${agent}`, sessionId);
    await readRecords(input.path, sink, (record, line) => session.add(record, line <= copied));
    const [home] = /^.*(?=[\\/]sessions[\\/])/.exec(sessionFolder) ?? [];
    session.end(state, agent, home === undefined ? undefined : (await readFolders(home)).get(sessionId));
  },
};

/** Whether a session is on this machine, in whichever project, or on the server. */
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

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.KIMI_CODE_HOME;
  if (named) return [{ path: join(named, "sessions"), variable: "KIMI_CODE_HOME" }];
  return [{ path: join(home, ".kimi-code", "sessions") }];
}
