import { type Spelling, spell } from "#common/evidence/spelling";

export type Folder = { path: string; name: string };

type Path = { root: string; parts: string[]; marks: string[] };

/**
 * A worktree is inside the repository (`REPO/.claude/worktrees/x`, `REPO/.git/worktrees/x`), next to it
 * (`REPO.worktrees/x`), or in an agent's common folder.
 * @returns undefined for anything but an absolute path with a name
 */
export const parseFolder = (cwd: unknown): Folder | undefined => readFolder(cwd, spell);

/** As earlier releases spelled it, since stored aliases may have that spelling. */
export const parseFormerFolder = (cwd: unknown): Folder | undefined => readFolder(cwd, spellAsFormerly);

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
