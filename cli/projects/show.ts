import type { Host } from "../adapters/adapter.ts";
import { type FittedColumn, fitTable } from "../terminal/fit-table.ts";
import { formatBytes, formatCount, formatNumber } from "../terminal/format.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";
import { type FoundProject, sumProjects } from "./found.ts";
import { foldHome } from "./rules.ts";

/** More projects are folded on a terminal, so that the text around them stays visible. */
const maxShown = 20;
const minFolded = 5;

type ShowOptions = { all: boolean; countsFiles?: boolean; more?: string };

export function showProjects(
  { host, terminal }: { host: Host; terminal: Terminal },
  projects: readonly FoundProject[],
  { all, countsFiles = false, more }: ShowOptions,
): void {
  const isFolded = !all && terminal.width !== undefined && projects.length >= maxShown + minFolded;
  const shown = isFolded ? projects.slice(0, maxShown) : projects;
  const columns: FittedColumn[] = [
    { title: "Project", align: "left", shrinks: true },
    { title: countsFiles ? "Files" : "Sessions", align: "right" },
    { title: "Size", align: "right" },
    { title: "Last used", align: "left", leavesAt: 2 },
    { title: countsFiles ? "Excluded by" : "Agents", align: "left", leavesAt: 1 },
  ];
  const rows = shown.map(({ name, sessions, bytes, agents, lastActivity, leftOutBy }) => [
    foldHome(name, host),
    formatNumber(sessions),
    formatBytes(bytes),
    lastActivity > 0 ? new Date(lastActivity).toISOString().slice(0, 10) : "",
    leftOutBy ? ("glob" in leftOutBy ? leftOutBy.glob : foldHome(leftOutBy.file, host)) : agents.join(", "),
  ]);
  const fitted = fitTable(columns, rows, terminal.width);
  terminal.table(fitted.columns, fitted.rows);
  if (!isFolded) return;
  const rest = sumProjects(projects.slice(maxShown));
  const count = `and ${formatCount(projects.length - maxShown, "more project")}`;
  const sessions = formatCount(rest.sessions, countsFiles ? "file" : "session");
  terminal.say(styled("dim", `${count}: ${sessions}, ${formatBytes(rest.bytes)}${more ? `. All: ${more}` : ""}`));
}
