import { posix, win32 } from "node:path";
import { folderKey, isWrittenByWindows } from "../../common/evidence/spelling.ts";
import type { Host } from "../adapters/adapter.ts";
import { adapters } from "../adapters/registry.ts";
import { getProjectName } from "../adapters/values.ts";
import { type Context, listValue, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import { nameProject, type ProjectLabels, ProjectRules } from "../projects/rules.ts";
import { formatList } from "../terminal/format.ts";
import type { AdapterInput } from "./inputs.ts";
import type { SessionLabels } from "./session.ts";

export class SessionFilter {
  readonly #sources: string[];
  readonly #projects: string[];
  readonly #since: number;
  readonly #currentFolder: string;
  readonly #matched = new Set<string>();
  readonly #seenSources = new Set(adapters.map(({ name }) => name));
  readonly #seenProjects = new Set<string>();
  readonly #host: Host;
  #rules: ProjectRules | undefined;
  #pictureRules: ProjectRules | undefined;
  #skippedUnknown = false;
  readonly leftOut = new Map<string, number>();

  constructor(context: Context, now = Date.now()) {
    this.#sources = listValue(context, "source");
    this.#projects = listValue(context, "project");
    this.#since = parseSince(stringValue(context, "since"), now);
    this.#currentFolder = context.host.cwd;
    this.#host = context.host;
  }

  /** Must be awaited before `leavesOut`. */
  async open(): Promise<void> {
    this.#rules ??= await ProjectRules.open(this.#host);
    this.#pictureRules ??= await ProjectRules.openForPictures(this.#host);
  }

  sendsPictures({ cwd, project }: ProjectLabels): boolean {
    return this.#pictureRules?.findExclusion({ cwd, project }) === undefined;
  }

  leavesOut({ cwd, project }: ProjectLabels): boolean {
    return this.#rules?.findExclusion({ cwd, project }) !== undefined;
  }

  noteProjectLeftOut({ cwd, project }: ProjectLabels, count = 1): void {
    const name = nameProject({ cwd, project });
    for (const wanted of this.#projects) {
      if (belongsToProject({ source: "", cwd, project: project ?? getProjectName(cwd) }, wanted, this.#currentFolder))
        this.#matched.add(`project ${wanted}`);
    }
    this.leftOut.set(name, (this.leftOut.get(name) ?? 0) + count);
  }

  /** Sources without an adapter come from JSONL files. */
  wantsAdapter({ name, holdsAnySource }: AdapterInput["adapter"]): boolean {
    if (this.#sources.length === 0 || this.#sources.includes(name)) return true;
    return holdsAnySource === true && this.#sources.some((source) => !isAdapter(source));
  }

  wantsInput({ modifiedAt }: AdapterInput): boolean {
    return modifiedAt >= this.#since;
  }

  needsLabels(adapter: string): boolean {
    return this.#projects.length > 0 || (this.#sources.length > 0 && !this.#sources.includes(adapter));
  }

  wantsSession(session: SessionLabels, adapter: string): boolean {
    const sources = this.#sources.filter((source) => source === adapter || source === session.source);
    const projects = this.#projects.filter((project) => belongsToProject(session, project, this.#currentFolder));
    this.#seenSources.add(session.source);
    if (session.project) this.#seenProjects.add(session.project);
    for (const source of sources) this.#matched.add(`source ${source}`);
    for (const project of projects) this.#matched.add(`project ${project}`);
    return (this.#sources.length === 0 || sources.length > 0) && (this.#projects.length === 0 || projects.length > 0);
  }

  noteLeftOut(sessions: SessionLabels[] | undefined, adapter: string): void {
    if (!sessions) this.#skippedUnknown = true;
    for (const session of sessions ?? []) this.wantsSession(session, adapter);
  }

  /** `isCertain` is false if `--since` left out files that were never read and may have matched. */
  describeUnmatched(): { messages: string[]; isCertain: boolean } {
    const sources = this.#sources.filter((source) => !isAdapter(source) && !this.#matched.has(`source ${source}`));
    const projects = this.#projects.filter((project) => !this.#matched.has(`project ${project}`));
    const known = (kind: string, names: Set<string>) =>
      names.size > 0 ? ` Known ${kind}: ${formatList([...names].sort())}.` : "";
    const messages = [
      ...sources.map((name) => `--source "${name}" matches no session.${known("sources", this.#seenSources)}`),
      ...projects.map((name) => `--project "${name}" matches no session.${known("projects", this.#seenProjects)}`),
    ];
    return { messages, isCertain: !this.#skippedUnknown };
  }
}

const isAdapter = (source: string): boolean => adapters.some(({ name }) => name === source);

const belongsToProject = ({ project, cwd }: SessionLabels, wanted: string, currentFolder: string): boolean =>
  wanted === project || (cwd !== undefined && isInFolder(cwd, wanted, currentFolder));

function isInFolder(cwd: string, folder: string, currentFolder: string): boolean {
  const { resolve } = isWrittenByWindows(currentFolder) ? win32 : posix;
  const isWhole = isWrittenByWindows(folder) || posix.isAbsolute(folder);
  const [above, below] = [isWhole ? folder : resolve(currentFolder, folder), cwd].map((path) =>
    posix.normalize(`/${folderKey(path)}/`),
  );
  return below?.startsWith(above ?? "") === true;
}

const spans: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Parses a date or a time span (30m, 24h, 7d, 2w) into milliseconds since 1970. */
function parseSince(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  const [, count, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (spans[unit] ?? 0);
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new CommandError("usage", `--since must be a date or a time span such as 7d, not "${text}".`);
  return at;
}
