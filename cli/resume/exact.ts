// Restores a session's files byte for byte, to where the agent expects the current folder's sessions.
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import type { Head } from "../originals/format.ts";
import { type Agent, findVersion, isOlder, parseVersion } from "./agents.ts";
import type { Copy } from "./fetch-copy.ts";
import { checkPaths } from "./paths.ts";
import { type Places, placeClaude, placeCodex, placeGemini } from "./places.ts";
import { type PlannedFile, type RestoredFile, restoreFiles } from "./restore-files.ts";
import { isOpencodeFile, restoreOpencode } from "./restore-opencode.ts";

type Options = { force: boolean };

/** @throws CommandError as `restoreFiles`, or if the copy has a path that no session of the agent has */
export async function restoreExact(
  host: Host,
  agent: Agent,
  { head, readFile }: Copy,
  options: Options,
): Promise<RestoredFile[]> {
  const home = agent.getHome(host);
  const places = await findPlaces(agent, home, head, host.cwd);
  checkPaths(
    head.files.map(({ path }) => path),
    places.isExpected,
  );
  const planned = head.files.map((file): PlannedFile => {
    const { bytes, sha256 } = file;
    return { path: places.move(file.path), bytes, sha256, read: () => readFile(file) };
  });
  // Agents list a session once its main file exists, so it is written last.
  planned.sort((one, other) => countDepth(other) - countDepth(one));
  checkPaths(
    planned.map(({ path }) => path),
    places.isExpected,
  );
  if (planned.length === 0) throw new CommandError("failed", "The copy has no files. Nothing was restored.");
  if (agent.source === "opencode") return restoreOpencode(host, agent, planned);
  return restoreFiles(home, planned, options);
}

const countDepth = ({ path }: PlannedFile): number => path.split("/").length;

function findPlaces(agent: Agent, home: string, { sourceId }: Head, folder: string): Places | Promise<Places> {
  if (agent.source === "claude-code") return placeClaude(home, sourceId, folder);
  if (agent.source === "codex-cli") return placeCodex(sourceId);
  if (agent.source === "gemini-cli") return placeGemini(home, folder);
  return { isExpected: isOpencodeFile, move: (path) => path };
}

/**
 * @returns a warning about the agent's version
 * @throws CommandError if it is older than the one that wrote the session
 */
export async function checkVersion(
  host: Host,
  agent: Agent,
  writer: string | null,
  anyVersion: boolean,
): Promise<string | undefined> {
  const [own, wrote] = [await findVersion(host, agent), parseVersion(writer)];
  if (own === undefined) return `${agent.title} (${agent.command}) was not found on the PATH.`;
  if (wrote === undefined || !isOlder(own, wrote)) return undefined;
  const what = `${agent.title} is ${own} here, older than the ${wrote} that wrote the session`;
  if (anyVersion) return `${what}.`;
  throw new CommandError("failed", `${what}. Update it, or try it with --any-version.`);
}
