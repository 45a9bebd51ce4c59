import { foldedPath, type Spelling, spell } from "#common/evidence/spelling";
import { withoutInvisible } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
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

export type Folder = { path: string; name: string };

type Path = { root: string; parts: string[]; marks: string[] };

/**
 * A worktree is inside the repository (`REPO/.claude/worktrees/x`, `REPO/.git/worktrees/x`), next to it
 * (`REPO.worktrees/x`), or in an agent's common folder.
 * @returns undefined for anything but an absolute path with a name
 */
export const parseFolder = (cwd: unknown): Folder | undefined => readFolder(cwd, spell);

/** As earlier releases spelled it, since stored aliases may have that spelling. */
const parseFormerFolder = (cwd: unknown): Folder | undefined => readFolder(cwd, spellAsFormerly);

function readFolder(cwd: unknown, spell: (cwd: string) => Spelling): Folder | undefined {
  if (typeof cwd !== "string" || cwd.length > 4096) return undefined;
  const path = parse(spell(cwd));
  if (!path) return undefined;
  return path.parts.length === 0 ? undefined : (findWorktree(path) ?? folderAt(path, path.parts));
}

function spellAsFormerly(cwd: string): Spelling {
  const isWindows = /^(?:[a-z]:[\\/]|\\\\)/i.test(cwd);
  return { path: isWindows ? cwd.replaceAll("\\", "/") : cwd, isWindows };
}

function parse({ path, isWindows }: Spelling): Path | undefined {
  const text = isWindows ? path : path.replace(/^\/+/, "/");
  const [, root] = /^([a-z]:\/|\/\/(?=[^/])|\/|~\/)/i.exec(text) ?? [];
  if (root === undefined) return undefined;
  const parts: string[] = [];
  for (const part of text.slice(root.length).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return { root: root.toUpperCase(), parts, marks: isWindows ? parts.map((part) => part.toLowerCase()) : parts };
}

function folderAt({ root }: Path, parts: string[], name = parts.at(-1)): Folder | undefined {
  return name ? { path: root + parts.join("/"), name } : undefined;
}

/** The outermost worktree counts: one may contain others. */
function findWorktree(path: Path): Folder | undefined {
  for (let at = 0; at < path.parts.length; at += 1) {
    const found = collected(path, at) ?? inside(path, at);
    if (found) return found;
  }
  return undefined;
}

/** `.cursor/worktrees/NAME/x`, `.codex/worktrees/x/NAME`, `conductor/workspaces/NAME/x` */
function collected(path: Path, at: number): Folder | undefined {
  const { parts, marks } = path;
  const [place, kind] = marks.slice(at, at + 2);
  const [first, second] = parts.slice(at + 2, at + 4);
  if (!first) return undefined;
  const before = parts.slice(0, at + 2);
  if (place === ".cursor" && kind === "worktrees" && second) return folderAt(path, [...before, first]);
  if (place === "conductor" && kind === "workspaces") return folderAt(path, [...before, first]);
  if (place === ".codex" && kind === "worktrees" && second) return folderAt(path, [...before, "*", second]);
  return undefined;
}

function inside(path: Path, at: number): Folder | undefined {
  const { parts, marks } = path;
  const [part = "", next, further] = marks.slice(at, at + 3);
  const name = parts[at] ?? "";
  const before = parts.slice(0, at);
  if (part === ".git") return folderAt(path, before);
  if (/.\.git$/.test(part) && next === "worktrees")
    return folderAt(path, parts.slice(0, at + 1), name.slice(0, -".git".length));
  if (next === undefined) return undefined;
  if (/.\.worktrees$/.test(part)) return folderAt(path, [...before, name.slice(0, -".worktrees".length)]);
  if (part === ".worktrees" || part === ".conductor") return isHome(path, at) ? undefined : folderAt(path, before);
  if (next === "worktrees" && further && /^\.[^.]/.test(part))
    return part === ".claude" || !isHome(path, at) ? folderAt(path, before) : undefined;
  const isAgents = part === "worktrees" && /^agent-[0-9a-f]{4,}$/i.test(next);
  return isAgents && !isHome(path, at) ? folderAt(path, before) : undefined;
}

function isHome({ root, parts }: Path, count: number): boolean {
  if (count === 0) return true;
  if (root === "~/") return false;
  return count === 1 ? parts[0] === "root" : count === 2 && /^(?:home|users)$/i.test(parts[0] ?? "");
}

/** SSH hosts (for another port) that differ from the web hosts. */
const sameHosts: Record<string, string> = {
  "ssh.github.com": "github.com",
  "www.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
  "ssh.dev.azure.com": "dev.azure.com",
};

/** Hosts that ignore the case of `Owner/Name`. */
const caseless = new Set(["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com"]);

export type Remote = { value: string; name: string };

/** Keeps only host and path, never credentials. @returns undefined if it names no host */
export function parseRemote(url: unknown): Remote | undefined {
  if (typeof url !== "string" || url.length > 2048) return undefined;
  const parts = splitRemote(url.trim());
  if (!parts) return undefined;
  const host = parseHost(parts.authority);
  const path = parseRemotePath(host ?? "", parts.path);
  const name = path?.at(-1);
  if (!host || !path || !name) return undefined;
  const joined = path.join("/");
  return { value: `${host}/${caseless.has(host) ? joined.toLowerCase() : joined}`, name };
}

type RemoteParts = { authority: string; path: string };

function splitRemote(url: string): RemoteParts | undefined {
  if (/[\s\p{Cc}]/u.test(url)) return undefined;
  const [, scheme, rest = ""] = /^(?:git\+)?([a-z][a-z\d+.-]*):\/\/(.*)$/i.exec(url) ?? [];
  if (scheme !== undefined) {
    if (!/^(?:ssh|git|https?|ftps?|svn\+ssh)$/i.test(scheme)) return undefined;
    const [, authority = "", path = ""] = /^([^/?#]*)([^?#]*)/.exec(rest) ?? [];
    return { authority, path };
  }
  const [, authority = "", path] = /^((?:[^/]*@)?(?:\[[^\]/]*\]|[^/:@[\]]+)):(?!\/\/)(.*)$/.exec(url) ?? [];
  if (path !== undefined) return isDrive(authority) ? undefined : { authority, path: path.replace(/[?#].*$/, "") };
  const [, host, bare] = /^((?:[^/@]*@)?[a-z\d-]+(?:\.[a-z\d-]+)+)(\/[^?#]+\/[^?#]+)/i.exec(url) ?? [];
  return host && bare ? { authority: host, path: bare } : undefined;
}

const isDrive = (authority: string) => /^[a-z]$/i.test(authority);

function parseHost(authority: string): string | undefined {
  const [, host] = /^(?:.*@)?(\[[\da-f:.]+\]|[^\s:@[\]]+)(?::\d*)?$/i.exec(authority) ?? [];
  const name = host?.toLowerCase().replace(/\.+$/, "");
  return name && Object.hasOwn(sameHosts, name) ? sameHosts[name] : name || undefined;
}

function parseRemotePath(host: string, path: string): string[] | undefined {
  const written = path.replace(/\/+$/, "").replace(/\.git$/i, "");
  const parts = written.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return undefined;
  if (host !== "dev.azure.com") return parts;
  return parts.filter((part, index) => !(part === "_git" && index > 0) && !(part === "v3" && index === 0));
}
