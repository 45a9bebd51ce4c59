import { resolve } from "node:path";
import { adapters } from "./adapters/all.ts";
import { type Context, listValue, stringValue } from "./context.ts";
import { Failure } from "./failure.ts";
import type { Found } from "./reading.ts";
import type { Session } from "./session.ts";

/** Which sessions are wanted: `--since`, `--source`, `--project`. */
export type Filter = {
  adapter(name: string): boolean;
  input(found: Found): boolean;
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
    session: (session) => (isByAdapter || sources.includes(session.source)) && isOfProject(session, projects),
    isAll: sources.length === 0 && projects.length === 0 && since === 0,
  };
}

/** A project by its name, or by its folder: one below it counts. */
function isOfProject({ project, cwd }: Session, projects: string[]): boolean {
  if (projects.length === 0) return true;
  return projects.some((wanted) => {
    const folder = resolve(wanted);
    return wanted === project || (cwd !== undefined && (cwd === folder || cwd.startsWith(`${folder}/`)));
  });
}

const spans: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A date, or a span before now: 30m, 24h, 7d, 2w. In milliseconds since 1970. */
function sinceOf(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  const [, count, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (spans[unit] ?? 0);
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new Failure("usage", `--since takes a date or a span such as 7d, not "${text}".`);
  return at;
}
