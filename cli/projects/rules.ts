import { realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { composePath, isWrittenByWindows, spellingOf, withDrive } from "../../lib/evidence/spelling.ts";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isFields } from "../files/json.ts";
import { areSettingsBroken, readSettings, type Settings, settingsPath } from "../settings.ts";
import { escapeGlob, Glob, hasWildcards, splitPath, unescapeGlob } from "./globs.ts";
import { IgnoreFiles } from "./ignore-files.ts";
import { findRepository } from "./worktrees.ts";

/** One line of the settings: the last one that matches a project counts. */
export type ProjectRule = { exclude: string } | { include: string };

/** What is known of a session's project. */
export type ProjectLabels = { project?: string | undefined; cwd?: string | undefined };

/** Why a project is left out: a glob of the settings, or the path of a `.spoorignore`. */
export type LeftOutBy = { glob: string } | { file: string };

/** The name of what has neither a folder nor a name. */
const noProject = "(none)";

/** What a project is called: its folder, else its name. */
export const nameProject = ({ cwd, project }: ProjectLabels): string => cwd ?? project ?? noProject;

export const getGlob = (rule: ProjectRule): string => ("exclude" in rule ? rule.exclude : rule.include);

/** A path below the home folder with `~` in its place. */
export function foldHome(path: string, { home }: Host): string {
  if (path === home) return "~";
  return path.startsWith(home) && /[\\/]/.test(path[home.length] ?? "") ? `~/${path.slice(home.length + 1)}` : path;
}

/** Whether a glob is compared with whole paths, and not with names. */
const isPathGlob = (glob: string): boolean => /^(?:[/~]|[A-Za-z]:|\*\*\/)/.test(glob) || glob === "**";

/**
 * Which projects are left out: by the settings, where the last rule that matches counts, or by a `.spoorignore`, which can only
 * leave out more.
 */
export class ProjectRules {
  readonly rules: readonly ProjectRule[];
  readonly #compiled: { rule: ProjectRule; matches: (paths: ProjectPaths) => boolean }[];
  readonly #ignoreFiles: IgnoreFiles;
  readonly #host: Host;
  readonly #known = new Map<string, LeftOutBy | undefined>();

  constructor(host: Host, rules: readonly ProjectRule[]) {
    this.#host = host;
    this.rules = rules;
    this.#compiled = rules.map((rule) => ({ rule, matches: compile(getGlob(rule), host) }));
    this.#ignoreFiles = new IgnoreFiles(host.home, hasCaselessNames(host));
  }

  /** The rules in the settings. @throws CommandError where they can't be read: nothing may be sent then */
  static async open(host: Host): Promise<ProjectRules> {
    const settings = await readSettings(host);
    return ProjectRules.of(host, (await areSettingsBroken(host)) ? { projects: "unknown" } : settings);
  }

  /** The rules for the pictures in what is sent: those of a project that they leave out are not. @throws as `open` */
  static async openForPictures(host: Host): Promise<ProjectRules> {
    return ProjectRules.of(host, { projects: (await readSettings(host)).pictures });
  }

  /** As `open`, of settings that were read. */
  static of(host: Host, { projects = [] }: Pick<Settings, "projects">): ProjectRules {
    if (isRules(projects)) return new ProjectRules(host, projects);
    const told = `${settingsPath(host)} can't be read, so it is not known which projects are left out.`;
    throw new CommandError("failed", `${told} Mend it, or remove it and log in again. Nothing was sent.`);
  }

  /** What leaves out a session's project; undefined for one that is sent. */
  findExclusion({ cwd, project }: ProjectLabels): LeftOutBy | undefined {
    const key = JSON.stringify([cwd, project]);
    if (!this.#known.has(key)) this.#known.set(key, this.#judge(cwd, project));
    return this.#known.get(key);
  }

  #judge(cwd: string | undefined, project: string | undefined): LeftOutBy | undefined {
    const paths = findPaths(cwd, project, this.#host);
    const last = this.#compiled.findLast(({ matches }) => matches(paths))?.rule;
    if (last && "exclude" in last) return { glob: last.exclude };
    for (const folder of paths.local) {
      const file = this.#ignoreFiles.findExcludingFile(folder);
      if (file) return { file };
    }
    return undefined;
  }
}

const isRules = (value: unknown): value is ProjectRule[] =>
  Array.isArray(value) &&
  value.every((rule) => isFields(rule) && (typeof rule.exclude === "string" || typeof rule.include === "string"));

const hasCaselessNames = ({ platform }: Host): boolean => platform === "darwin" || platform === "win32";

/** A project's folder under all its names. */
type ProjectPaths = {
  /** As parts of absolute paths. */
  whole: string[][];
  names: string[];
  /** Those on this system. */
  local: string[];
  ignoresCase: boolean;
};

/** No system has longer ones. A longer text, which a session may hold, would be looked for folder by folder without end. */
const maxPathChars = 32_767;

function findPaths(cwd: string | undefined, project: string | undefined, host: Host): ProjectPaths {
  const isPath = cwd !== undefined && cwd.length <= maxPathChars && isAbsolute(cwd);
  const isLocal = isPath && (host.platform === "win32" || !isWrittenByWindows(cwd));
  // A worktree is left out with its repository, wherever it lies.
  const repository = isLocal ? findRepository(cwd) : undefined;
  const local = isLocal
    ? [...new Set([resolve(cwd), resolveLinks(cwd), ...(repository ? [resolve(repository)] : [])])]
    : [];
  const whole = cwd === undefined ? [] : isLocal ? local.map(toParts) : [toParts(cwd)];
  const homes = [host.home, resolveLinks(host.home)].map(toParts);
  const folders = whole.flatMap((parts) => {
    const home = homes.find((one) => one.every((part, index) => parts[index] === part));
    return home ? parts.slice(home.length) : parts;
  });
  const names = [...new Set([...(project ? [composePath(project)] : []), ...folders])];
  return {
    whole,
    names: names.length > 0 ? names : [noProject],
    local,
    ignoresCase: (cwd !== undefined && spellingOf(cwd).isWindows) || hasCaselessNames(host),
  };
}

/** The parts of an absolute path of any system; of `C:\` the drive is the first one. */
const toParts = (path: string): string[] => splitPath(spellingOf(path).path);

/** A path without symbolic links, as far as it exists. */
function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path); // it no longer exists, or may not be entered: it has this name only
  }
}

function compile(glob: string, host: Host): (paths: ProjectPaths) => boolean {
  if (glob === "*" || glob === "**") return () => true;
  const texts = isPathGlob(glob) ? pathGlobs(glob, host) : [composePath(glob)];
  const exact = texts.map((text) => new Glob(text));
  const caseless = texts.map((text) => new Glob(text, { ignoresCase: true }));
  return ({ whole, names, ignoresCase }) => {
    const candidates = isPathGlob(glob) ? whole : names.map((name) => [name]);
    const globs = ignoresCase ? caseless : exact;
    return candidates.some((candidate) => globs.some((one) => one.matchesPath(candidate)));
  };
}

/** A glob for paths without `~`; also one whose beginning has no symbolic links. */
function pathGlobs(glob: string, host: Host): string[] {
  const home = escapeGlob(toParts(host.home).join("/"));
  const whole = glob.replace(/^~(?=\/|$)/, () => `/${home}`);
  const parts = splitPath(whole);
  const plain = parts.findIndex((part) => part === "**" || hasWildcards(part));
  const fixed = parts.slice(0, plain === -1 ? parts.length : plain);
  const spelled = composePath(withDrive(whole));
  const hasDrive = /^[A-Z]:$/i.test(fixed[0] ?? "");
  const isHere = fixed.length > 0 && hasDrive === (host.platform === "win32");
  if (!isHere) return [spelled];
  const real = resolveLinks(`${hasDrive ? "" : "/"}${fixed.map(unescapeGlob).join("/")}${fixed.length === 1 ? "/" : ""}`);
  return [spelled, [...toParts(real).map(escapeGlob), ...parts.slice(fixed.length)].join("/")];
}
