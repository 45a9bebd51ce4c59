import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { asString } from "../values.ts";
import { KimiCliSession } from "./session.ts";

const log = "wire.jsonl";

/**
 * Kimi CLI, the predecessor of Kimi Code: a log of JSON lines for each session, `sessions/PROJECT/ID/wire.jsonl`, where PROJECT is
 * the MD5 hash of the folder's path, and for each sub-agent, `subagents/AGENT/wire.jsonl` below it.
 *
 * - A step's texts and calls come before its tokens, results after them.
 * - A sub-agent's events are in its session's log, too: they are read in its own.
 */
export const kimiCli: Adapter = {
  name: "kimi-cli",
  title: "Kimi CLI",
  version: 2,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) yield* findFiles(path, (name) => name === log);
  },
  async parse(input, sink) {
    const folder = dirname(input.path);
    const isAgent = basename(dirname(folder)) === "subagents";
    const sessionFolder = isAgent ? dirname(dirname(folder)) : folder;
    const sessionId = basename(sessionFolder);
    const project = dirname(sessionFolder);
    const session = new KimiCliSession(sink, sessionId, isAgent ? basename(folder) : undefined);
    const registry = await readJsonFile(join(dirname(dirname(project)), "kimi.json"));
    session.noteFolder(workFolder(registry, basename(project)));
    await readRecords(input.path, sink, (record) => session.add(record));
    const state = isAgent ? undefined : await readJsonFile(join(sessionFolder, "state.json"));
    session.end(isFields(state) ? state.custom_title : undefined);
  },
};

/** The folder whose path has the hash that a project is named by, after the name of another machine's system, if any. */
function workFolder(registry: unknown, project: string): string | undefined {
  const known = isFields(registry) && Array.isArray(registry.work_dirs) ? registry.work_dirs.filter(isFields) : [];
  const paths = known.flatMap(({ path }) => asString(path) ?? []);
  return paths.find((path) => project.endsWith(createHash("md5").update(path).digest("hex")));
}

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.KIMI_SHARE_DIR;
  if (named) return [{ path: join(named, "sessions"), variable: "KIMI_SHARE_DIR" }];
  return [{ path: join(home, ".kimi", "sessions") }];
}
