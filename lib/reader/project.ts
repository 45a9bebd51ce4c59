import { foldedPath, spellingOf } from "#lib/evidence/spelling";
import { withoutInvisible } from "#lib/fields";
import { limits } from "#lib/limits";
import { parseFolder, parseFormerFolder } from "#lib/reader/folder";
import { parseRemote } from "#lib/reader/remote";
import { cut } from "#lib/reader/text";

type AliasKind = "remote" | "folder" | "name";

/** What a project is recognized by. `machine` is the one that a folder is on, and empty for the other kinds. */
export type ProjectAlias = { kind: AliasKind; machine: string; value: string };

/** An alias, and the name of a project that is known by it alone. `former` is the value that earlier releases stored for it. */
export type ProjectSign = ProjectAlias & { name: string; former?: string };

/** What a trace tells of its project. */
export type Whereabouts = {
  project: string | null;
  machine: string | null;
  metadata: Record<string, unknown> | null;
};

/** Whether a name is one that an agent gave a sub-agent's folder or session. */
export const isSubAgentName = (name: string): boolean => hashed.test(name);

/** Names that agents give to the folders and sessions of their sub-agents: a hash, and no project. */
const hashed = /^agent-(?:[0-9a-f]{7,}|(?=[a-f]*\d)[0-9a-f]{4,6})$/i;

/** The longest value of an alias in UTF-8: what an index entry takes, which has a machine's name beside it. */
const maxAliasBytes = 1024;

/**
 * What proves a trace's project, the strongest first: its Git remote and its folder; without a remote the repository whose worktree
 * the folder is, and the folder; or where it has neither the name that came with it. Empty where nothing proves one.
 */
export function listProjectSigns({ project, machine, metadata }: Whereabouts): ProjectSign[] {
  const remote = parseRemote(metadata?.repository);
  const folder = makeFolderSign(metadata?.cwd, machine ?? "");
  const repository = remote ? undefined : makeFolderSign(metadata?.gitDir, machine ?? "");
  const signs = [
    remote && makeSign("remote", "", remote.value, remote.name),
    repository?.value === folder?.value ? undefined : repository,
    folder,
  ].filter((sign) => sign !== undefined);
  if (signs.length > 0) return signs;
  const named = project === null ? undefined : makeSign("name", "", project, project);
  return named ? [named] : [];
}

function makeFolderSign(cwd: unknown, machine: string): ProjectSign | undefined {
  const folder = parseFolder(cwd);
  if (!folder) return undefined;
  const isWindows = typeof cwd === "string" && spellingOf(cwd).isWindows;
  const sign = makeSign("folder", machine, foldedPath({ path: folder.path, isWindows }), folder.name);
  const former = sign && parseFormerFolder(cwd)?.path;
  return sign && former !== undefined && former !== sign.value ? { ...sign, former } : sign;
}

function makeSign(kind: AliasKind, machine: string, value: string, text: string): ProjectSign | undefined {
  const name = projectName(text);
  if (!name || (kind !== "remote" && isSubAgentName(name)) || Buffer.byteLength(value) > maxAliasBytes)
    return undefined;
  return { kind, machine, value, name };
}

/** A text as a project's name: without characters that are not seen, and not too long. Empty where nothing is left. */
export const projectName = (text: string): string =>
  cut(withoutInvisible(text).replace(/\s+/g, " ").trim(), limits.traces.projectName).trim();
