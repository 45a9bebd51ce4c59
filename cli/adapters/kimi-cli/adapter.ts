import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { getHomeRoot } from "../search-roots.ts";
import { asFields, asString, listFields } from "../values.ts";
import { KimiCliSession } from "./session.ts";

const log = "wire.jsonl";

/**
 * PROJECT in `sessions/PROJECT/ID/wire.jsonl` is the MD5 hash of the folder's path. A sub-agent's events are also in
 * its session's log, but are read from its own.
 */
export const kimiCli = makeFileAdapter({
  name: "kimi-cli",
  title: "Kimi CLI",
  version: 2,
  getSearchRoots: (host) => [getHomeRoot(host, "KIMI_SHARE_DIR", ".kimi", "sessions")],
  matches: (name) => name === log,
  async parse(input, sink) {
    const folder = dirname(input.path);
    const isAgent = basename(dirname(folder)) === "subagents";
    const sessionFolder = isAgent ? dirname(dirname(folder)) : folder;
    const sessionId = basename(sessionFolder);
    const project = dirname(sessionFolder);
    const session = new KimiCliSession(sink, sessionId, isAgent ? basename(folder) : undefined);
    const registry = await readJsonFile(join(dirname(dirname(project)), "kimi.json"));
    session.noteFolder(findWorkFolder(registry, basename(project)));
    await readRecords(input.path, sink, (record) => session.add(record));
    const state = isAgent ? undefined : await readJsonFile(join(sessionFolder, "state.json"));
    session.end(asFields(state).custom_title);
  },
});

/** The name of another machine's system may precede the hash. */
function findWorkFolder(registry: unknown, project: string): string | undefined {
  const known = listFields(asFields(registry).work_dirs);
  const paths = known.flatMap(({ path }) => asString(path) ?? []);
  return paths.find((path) => project.endsWith(createHash("md5").update(path).digest("hex")));
}
