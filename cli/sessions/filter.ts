import { posix, win32 } from "node:path";
import { adapters } from "../adapters/registry.ts";
import { type Context, listValue, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import type { AdapterInput } from "./inputs.ts";
import type { Session } from "./session.ts";

/** Which sessions are wanted: `--since`, `--source`, `--project`. */
export type Filter = {
  adapter(name: string): boolean;
  input(found: AdapterInput): boolean;
  session(session: Session): boolean;
  /** Whether nothing is left out. */
  isAll: boolean;
};

/** @throws Failure `usage` where a value can't be understood */
export function filterOf(context: Context, now = Date.now()): Filter {
  const sources = listValue(context, "source");
  const projects = listValue(context, "project");
  const since = sinceOf(stringValue(context, "since"), now);
  // An agent's name leaves the other agents' files alone; any other source may stand in every file.
  const isByAdapter = sources.every((source) => adapters.some(({ name }) => name === source));
  return {
    adapter: (name) => sources.length === 0 || !isByAdapter || sources.includes(name),
    input: ({ modifiedAt }) => modifiedAt >= since,
    session: (session) =>
      (isByAdapter || sources.includes(session.source)) && isOfProject(session, projects, context.host.cwd),
    isAll: sources.length === 0 && projects.length === 0 && since === 0,
  };
}

/** A project is named by its name or its folder; a session in a subfolder belongs to it. */
function isOfProject({ project, cwd }: Session, projects: string[], currentFolder: string): boolean {
  if (projects.length === 0) return true;
  return projects.some((wanted) => wanted === project || (cwd !== undefined && isInFolder(cwd, wanted, currentFolder)));
}

/**
 * Whether a session's folder is `folder` or below it. The path rules are those of the session's system, not of this
 * machine's: on Windows both slashes separate, and case does not count.
 *
 * @param folder may be relative to `currentFolder`
 */
function isInFolder(cwd: string, folder: string, currentFolder: string): boolean {
  const path = /^(?:[A-Za-z]:[\\/]|\\\\)/.test(cwd) ? win32 : posix;
  const below = path.relative(path.resolve(currentFolder, folder), cwd);
  return below !== ".." && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below);
}

const spans: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A date, or a span before now: 30m, 24h, 7d, 2w. In milliseconds since 1970. */
function sinceOf(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  const [, count, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (spans[unit] ?? 0);
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new CommandError("usage", `--since takes a date or a span such as 7d, not "${text}".`);
  return at;
}
