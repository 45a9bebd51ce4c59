import { foldedPath, spell } from "#common/evidence/spelling";
import { withoutInvisible } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { parseFolder, parseFormerFolder } from "#lib/transcript/folder";
import { parseRemote } from "#lib/transcript/remote";
import { cut } from "#lib/transcript/text";

type AliasKind = "remote" | "folder" | "name";

/** `machine` is the folder's machine, and empty for other kinds. */
export type ProjectAlias = { kind: AliasKind; machine: string; value: string };

export const getAliasKey = ({ kind, machine, value }: Record<keyof ProjectAlias, string>): string =>
  JSON.stringify([kind, machine, value]);

/** `former` is the value that earlier releases stored for it. */
export type ProjectSign = ProjectAlias & { name: string; former?: string };

export type Whereabouts = {
  project: string | null;
  machine: string | null;
  metadata: Record<string, unknown> | null;
};

export const isSubAgentName = (name: string): boolean => hashed.test(name);

const hashed = /^agent-(?:[0-9a-f]{7,}|(?=[a-f]*\d)[0-9a-f]{4,6})$/i;

/** Fits into an index entry together with a machine's name. */
const maxAliasBytes = 1024;

/** Strongest first: Git remote and folder, the worktree's repository, the name that came with the trace. */
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
  const isWindows = typeof cwd === "string" && spell(cwd).isWindows;
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

/** Removes invisible characters and shortens; empty if nothing is left. */
export const projectName = (text: string): string =>
  cut(withoutInvisible(text).replace(/\s+/g, " ").trim(), limits.traces.projectName).trim();
