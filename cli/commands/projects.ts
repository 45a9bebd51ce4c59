import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { program } from "../program.ts";
import { addRules, normalizeGlob } from "../projects/edit.ts";
import { type FoundProject, findProjects, sumProjects } from "../projects/found.ts";
import { foldHome, type LeftOutBy, type ProjectRule, ProjectRules } from "../projects/rules.ts";
import { showProjects } from "../projects/show.ts";
import { loadSettings } from "../server/connection.ts";
import { ScanIndex } from "../sessions/scan-index.ts";
import { findServer, type Settings, updateSettings } from "../settings.ts";
import { SentRecord } from "../sync/sent-record.ts";
import { formatBytes, formatCount, formatList } from "../terminal/format.ts";
import { styled } from "../terminal/terminal.ts";

export async function projects(context: Context): Promise<void> {
  const [action, ...globs] = context.words;
  if (action === undefined) return list(context);
  if (action !== "include" && action !== "exclude") {
    throw new CommandError("usage", `Use include or exclude, not "${action}". See: ${program} projects --help`);
  }
  if (globs.length === 0) {
    throw new CommandError("usage", `projects ${action} takes a project's name or folder, such as: "~/code/*"`);
  }
  await change(context, action, globs);
}

async function list(context: Context): Promise<void> {
  const { host, terminal, values } = context;
  const { rules } = await ProjectRules.open(host);
  const found = await findProjects(context);
  const sent = found.filter(({ leftOutBy }) => !leftOutBy);
  const leftOut = found.filter(({ leftOutBy }) => leftOutBy);
  const options = { all: values.all === true, more: `${program} projects --all` };
  if (found.length === 0) terminal.say(`No sessions found on this machine. See where Spoor looks: ${program} doctor`);
  if (sent.length > 0) showProjects(context, sent, options);
  if (leftOut.length > 0) {
    if (sent.length > 0) terminal.say();
    terminal.say(styled("bold", "Excluded: neither read nor sent"));
    showProjects(context, leftOut, { ...options, countsFiles: true });
  }
  if (found.length > 0) sayTotals(context, sent, leftOut);
  sayRules(context, rules);
  terminal.json({ rules, projects: found.map((one) => ({ ...one, lastActivity: formatTime(one) })) });
}

const formatTime = ({ lastActivity }: FoundProject): string | null =>
  lastActivity > 0 ? new Date(lastActivity).toISOString() : null;

function sayTotals({ terminal }: Context, sent: FoundProject[], leftOut: FoundProject[]): void {
  const { sessions, bytes } = sumProjects(sent);
  const out =
    leftOut.length === 0 ? "none is" : `${formatCount(leftOut.length, "other")} ${leftOut.length === 1 ? "is" : "are"}`;
  terminal.say();
  const total = `${formatCount(sent.length, "project")} with ${formatCount(sessions, "session")} (${formatBytes(bytes)})`;
  terminal.say(`${total} ${sent.length === 1 ? "is" : "are"} sent; ${out} excluded.`);
  terminal.say(styled("dim", `Leave projects out with: ${program} projects exclude GLOB...`));
}

function sayRules({ terminal }: Context, rules: readonly ProjectRule[]): void {
  if (rules.length === 0) return;
  terminal.say();
  terminal.say("Rules (the last matching rule counts):");
  for (const rule of rules)
    terminal.say("exclude" in rule ? `  exclude  ${rule.exclude}` : `  include  ${rule.include}`);
}

async function change(context: Context, action: "include" | "exclude", given: string[]): Promise<void> {
  const { host, terminal } = context;
  const globs = [...new Set(given.map((glob) => normalizeGlob(glob, host)))];
  const changed = (settings: Settings) => addRules(ProjectRules.of(host, settings).rules, action, globs);
  const settings = await updateSettings(host, (now) => ({ ...now, projects: changed(now) }));
  const [before, after] = [ProjectRules.of(host, settings), new ProjectRules(host, changed(settings))];
  const what = formatList(globs);
  terminal.say(styled("green", "✓"), action === "exclude" ? ` Excluded ${what}.` : ` Included ${what}.`);
  const isOnly = before.rules.length === 0 && action === "include" && after.rules.length > 0;
  if (isOnly) terminal.say(`  All other projects are excluded. To send all again: ${program} projects include '**'`);
  const known = await readKnownProjects(context);
  const other = known.filter((one) => Boolean(before.findExclusion(one)) !== Boolean(after.findExclusion(one)));
  const names = [...new Set(other.map((one) => foldHome(one.cwd ?? one.project ?? "", host)))].sort();
  if (names.length > 0) terminal.say(`  ${formatCount(names.length, "known project")}: ${formatList(names, 5)}`);
  else if (known.length > 0) terminal.say("  No known project is affected.");
  const stillOut = action === "include" ? await sayStillLeftOut(context, after, globs) : [];
  const sentBefore = action === "exclude" ? await saySentBefore(context, after) : 0;
  terminal.json({ rules: after.rules, changed: names, stillLeftOut: stillOut, sentBefore });
}

async function readKnownProjects({ host }: Context) {
  return (await ScanIndex.open(host)).projects();
}

/** An include does not override a `.spoorignore`. */
async function sayStillLeftOut(context: Context, rules: ProjectRules, globs: string[]): Promise<string[]> {
  const { host, terminal } = context;
  const chosen = new ProjectRules(
    host,
    globs.map((glob) => ({ exclude: glob })),
  );
  const files = new Set<string>();
  for (const one of await readKnownProjects(context)) {
    const by: LeftOutBy | undefined = chosen.findExclusion(one) && rules.findExclusion(one);
    if (by && "file" in by) files.add(by.file);
  }
  for (const file of files) terminal.warn(styled("yellow", "!"), ` ${foldHome(file, host)} still excludes its folder.`);
  return [...files];
}

async function saySentBefore(context: Context, rules: ProjectRules): Promise<number> {
  const { host, terminal } = context;
  const settings = await loadSettings(context);
  const sent = (await SentRecord.readSentSessions(host)).filter((one) => rules.findExclusion(one));
  if (sent.length === 0) return 0;
  const server = findServer(host, settings, undefined);
  const names = [...new Set(sent.flatMap(({ project }) => project ?? []))].sort();
  const are = sent.length === 1 ? "uploaded session stays" : "uploaded sessions stay";
  terminal.say(`  ${sent.length} ${are} on the server. Delete them at:`);
  for (const name of names.slice(0, 5)) terminal.say(`    ${server ?? ""}/traces?project=${encodeURIComponent(name)}`);
  if (names.length > 5 || names.length === 0) terminal.say(`    ${server ?? ""}/traces`);
  return sent.length;
}
