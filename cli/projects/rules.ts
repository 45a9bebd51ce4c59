import { realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { composePath, isWrittenByWindows, spell, withDrive } from "../../common/evidence/spelling.ts";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isFields } from "../files/json.ts";
import { areSettingsBroken, readSettings, type Settings, settingsPath } from "../settings.ts";
import { escapeGlob, Glob, hasWildcards, splitPath, unescapeGlob } from "./globs.ts";
import { IgnoreFiles } from "./ignore-files.ts";
import { findRepository } from "./worktrees.ts";

export type ProjectRule = { exclude: string } | { include: string };

export type ProjectLabels = { project?: string | undefined; cwd?: string | undefined };

export type LeftOutBy = { glob: string } | { file: string };

const noProject = "(none)";

export const nameProject = ({ cwd, project }: ProjectLabels): string => cwd ?? project ?? noProject;

export const getGlob = (rule: ProjectRule): string => ("exclude" in rule ? rule.exclude : rule.include);

export function foldHome(path: string, { home }: Host): string {
  if (path === home) return "~";
  return path.startsWith(home) && /[\\/]/.test(path[home.length] ?? "") ? `~/${path.slice(home.length + 1)}` : path;
}

const isPathGlob = (glob: string): boolean => /^(?:[/~]|[A-Za-z]:|\*\*\/)/.test(glob) || glob === "**";

/**
 * Decides which projects are left out: by the last matching rule of the settings, or by a `.spoorignore`, which can
 * only leave out more.
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

  /** @throws CommandError if the settings can't be read, because nothing may be sent then */
  static async open(host: Host): Promise<ProjectRules> {
    const settings = await readSettings(host);
    return ProjectRules.of(host, (await areSettingsBroken(host)) ? { projects: "unknown" } : settings);
  }

  static async openForPictures(host: Host): Promise<ProjectRules> {
    return ProjectRules.of(host, { projects: (await readSettings(host)).pictures });
  }

  /** @returns undefined while no exact copies are sent */
  static async openForOriginals(host: Host): Promise<ProjectRules | undefined> {
    const { originals } = await readSettings(host);
    return originals === undefined ? undefined : ProjectRules.of(host, { projects: originals });
  }

  static of(host: Host, { projects = [] }: Pick<Settings, "projects">): ProjectRules {
    if (isRules(projects)) return new ProjectRules(host, projects);
    const problem = `${settingsPath(host)} can't be read, so the excluded projects are unknown.`;
    throw new CommandError("failed", `${problem} Fix it, or remove it and log in again. Nothing was sent.`);
  }

  findExclusion({ cwd, project }: ProjectLabels): LeftOutBy | undefined {
    const key = JSON.stringify([cwd, project]);
    if (!this.#known.has(key)) this.#known.set(key, this.#search(cwd, project));
    return this.#known.get(key);
  }

  #search(cwd: string | undefined, project: string | undefined): LeftOutBy | undefined {
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

type ProjectPaths = {
  whole: string[][];
  names: string[];
  local: string[];
  ignoresCase: boolean;
};

/** No system has longer paths, and a longer text would take too long to search. */
const maxPathChars = 32_767;

function findPaths(cwd: string | undefined, project: string | undefined, host: Host): ProjectPaths {
  const isPath = cwd !== undefined && cwd.length <= maxPathChars && isAbsolute(cwd);
  const isLocal = isPath && (host.platform === "win32" || !isWrittenByWindows(cwd));
  // A worktree is left out together with its repository.
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
    ignoresCase: (cwd !== undefined && spell(cwd).isWindows) || hasCaselessNames(host),
  };
}

/** The drive is the first part of `C:\`. */
const toParts = (path: string): string[] => splitPath(spell(path).path);

function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
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

/** Replaces `~`, and adds the glob with symbolic links resolved. */
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
  const real = resolveLinks(
    `${hasDrive ? "" : "/"}${fixed.map(unescapeGlob).join("/")}${fixed.length === 1 ? "/" : ""}`,
  );
  return [spelled, [...toParts(real).map(escapeGlob), ...parts.slice(fixed.length)].join("/")];
}
