import { type Context, commandHint, listValue, stringValue } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import type { ListedOriginal } from "../originals/client.ts";
import { readIdentity } from "../originals/keys.ts";
import { program } from "../program.ts";
import { type Agent, findAgent, findVersion, requireAgent } from "../resume/agents.ts";
import { cleanFromArchive, cleanFromCopy } from "../resume/clean.ts";
import { checkVersion, restoreExact } from "../resume/exact.ts";
import { fetchArchived, fetchChangedFiles } from "../resume/fetch-archived.ts";
import { fetchCopy } from "../resume/fetch-copy.ts";
import { compareGit } from "../resume/git-state.ts";
import { formatCommand, runAgent } from "../resume/programs.ts";
import { repairClaude } from "../resume/repair.ts";
import type { RestoredFile } from "../resume/restore-files.ts";
import { findCopies, requireArchived, type SessionFilter } from "../resume/sessions.ts";
import { tellSession } from "../resume/told.ts";
import type { Api } from "../server/api.ts";
import { connectLoggedIn } from "../server/connection.ts";
import { fitTable } from "../terminal/fit-table.ts";
import { formatBytes, formatCount } from "../terminal/format.ts";
import { styled } from "../terminal/terminal.ts";

type Mode = "exact" | "clean" | "told";
type Session = { source: string; sourceId: string; title: string };

type Outcome = {
  mode: Mode;
  session: Session;
  command: string[];
  files: RestoredFile[];
  notes: string[];
  missing: string[];
};

export async function resume(context: Context): Promise<number> {
  if (context.values.repair === true) return repair(context);
  const mode = readMode(context);
  const { api, server } = await connectLoggedIn(context);
  const filter = readFilter(context);
  const copies = await findCopies(api, filter);
  if (Array.isArray(copies) && (copies.length > 1 || (filter.words.length === 0 && copies.length > 0))) {
    const chosen = await choose(context, copies, server);
    return chosen ? act(context, mode, api, filter, chosen) : exitCodes.done;
  }
  const [copy] = Array.isArray(copies) ? copies : [];
  if (copy && filter.words.length > 0) return act(context, mode, api, filter, copy);
  if (mode === "exact" || filter.words.length === 0) throw describeNone(context, copies, filter);
  return act(context, mode, api, filter, undefined);
}

function readMode({ values }: Context): Mode {
  const modes = (["clean", "told"] as const).filter((name) => values[name] !== undefined);
  if (modes.length > 1) throw new CommandError("usage", "--clean and --told exclude each other.");
  if (values.run === true && values.json === true)
    throw new CommandError("usage", "--run and --json exclude each other.");
  if (typeof values.told === "string") requireAgent(values.told);
  return modes[0] ?? "exact";
}

const readFilter = (context: Context): SessionFilter => ({
  words: context.words,
  project: stringValue(context, "project"),
  sources: listValue(context, "source"),
});

function describeNone(
  context: Context,
  copies: Awaited<ReturnType<typeof findCopies>>,
  { words }: SessionFilter,
): CommandError {
  const login = `${commandHint(context, "login")} --scopes ingest,read,originals`;
  if (copies === "not allowed")
    return new CommandError("failed", `This login may not read exact copies. Allow it with: ${login}`);
  const other = `Rebuild one from the archive with: ${program} resume ID --clean`;
  if (copies === "not known") return new CommandError("failed", `This server keeps no exact copies. ${other}`);
  const which = words.length > 0 ? ` of "${words.join(" ")}"` : "";
  return new CommandError("failed", `The server has no exact copy${which}. ${other}`);
}

const columns = [
  { title: "Last copy", align: "left" },
  { title: "Agent", align: "left", leavesAt: 2 },
  { title: "Project", align: "left", leavesAt: 3 },
  { title: "Title", align: "left", shrinks: true },
  { title: "Size", align: "right", leavesAt: 1 },
  { title: "ID", align: "left" },
] as const;

const maxTitleChars = 60;

async function choose(
  { terminal, signal }: Context,
  copies: ListedOriginal[],
  server: string,
): Promise<ListedOriginal | undefined> {
  const rows = copies.map((copy) => [
    copy.updatedAt.slice(0, 16).replace("T", " "),
    findAgent(copy.source)?.title ?? copy.source,
    copy.project ?? "",
    [...getTitle(copy)].slice(0, maxTitleChars).join(""),
    formatBytes(copy.plainBytes),
    copy.sourceId,
  ]);
  const at = await terminal.choose(
    rows.map(([when, agent, project, title]) => [when, agent, project, title].filter(Boolean).join("  ")),
    signal,
  );
  if (at !== undefined) return copies[at];
  if (!terminal.canAsk) {
    const fitted = fitTable(columns, rows, terminal.width);
    terminal.table(fitted.columns, fitted.rows);
    terminal.say(`Resume one with: ${program} resume ID`);
  }
  terminal.json({ server, sessions: copies });
  return undefined;
}

const getTitle = ({ title }: { title: string | null }): string => title || "Untitled session";

async function act(
  context: Context,
  mode: Mode,
  api: Api,
  filter: SessionFilter,
  copy: ListedOriginal | undefined,
): Promise<number> {
  const exact = copy && (mode === "exact" || (mode === "clean" && (await readIdentity(context.host)) !== undefined));
  if (exact) return finish(context, await (mode === "exact" ? bringBack : cleanCopy)(context, api, copy));
  const wanted = copy ? { words: [copy.sourceId], sources: [copy.source] } : filter;
  const archived = await requireArchived(api, wanted);
  if (mode === "told") return tell(context, api, archived);
  const agent = requireSource(archived.source);
  const trace = await fetchArchived(api, archived);
  const made = await cleanFromArchive(context.host, agent, trace, await findVersion(context.host, agent));
  const notes = [`It was rebuilt from the archive, as a new session with the id ${made.id}.`];
  const { files, missing } = made;
  return finish(context, { mode, session: archived, command: agent.resume(made.id), files, notes, missing });
}

function requireSource(source: string): Agent {
  const agent = findAgent(source);
  if (agent) return agent;
  throw new CommandError(
    "failed",
    `Sessions of ${source} can't be restored. Summarize it for another agent with --told.`,
  );
}

async function bringBack(context: Context, api: Api, listed: ListedOriginal): Promise<Outcome> {
  const { host, values } = context;
  const agent = requireSource(listed.source);
  requireSafeId(listed.sourceId);
  const copy = await fetchCopy(api, host, listed);
  if (!copy) throw new CommandError("failed", "The copy is no longer on the server.");
  const version = await checkVersion(host, agent, copy.head.agentVersion, values["any-version"] === true);
  const files = await restoreExact(host, agent, copy, { force: values.force === true });
  const git = await compareGit(host, host.cwd, copy.head.git);
  const notes = [...(version ? [version] : []), ...git];
  const session = { ...listed, title: getTitle(listed) };
  return { mode: "exact", session, command: agent.resume(listed.sourceId), files, notes, missing: [] };
}

/** Other ids could be unsafe in a shell command. */
function requireSafeId(id: string): void {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(id)) throw new CommandError("failed", `"${id}" is not the id of a session.`);
}

async function cleanCopy(context: Context, api: Api, listed: ListedOriginal): Promise<Outcome> {
  const { host } = context;
  const agent = requireSource(listed.source);
  const copy = await fetchCopy(api, host, listed);
  if (!copy) throw new CommandError("failed", "The copy is no longer on the server.");
  const made = await cleanFromCopy(host, agent, copy);
  const notes = [
    `It was made from the exact copy, as a new session with the id ${made.id}.`,
    ...(await compareGit(host, host.cwd, copy.head.git)),
  ];
  const session = { ...listed, title: getTitle(listed) };
  const { files, missing } = made;
  return { mode: "clean", session, command: agent.resume(made.id), files, notes, missing };
}

async function finish(context: Context, outcome: Outcome): Promise<number> {
  const { terminal, host, values } = context;
  const { session, command, files, notes, missing, mode } = outcome;
  const { source, sourceId, title } = session;
  const written = files.filter(({ wrote }) => wrote !== "same" && wrote !== "kept");
  const what = written.length > 0 ? `Restored ${formatCount(written.length, "file")}` : "All files are here already";
  terminal.say(styled("green", "✓"), ` ${what}: `, styled("bold", title));
  for (const { setAside } of files) if (setAside) terminal.say(`  The previous file is now ${setAside}`);
  if (files.some(({ wrote }) => wrote === "kept"))
    terminal.say("  This machine's file has more than the copy, so it was kept.");
  for (const note of notes) terminal.say("  ", note);
  if (missing.length > 0) terminal.say(`  It lacks: ${missing.join(", ")}.`);
  terminal.json({ mode, session: { source, sourceId, title }, files, notes, missing, folder: host.cwd, command });
  if (values.run === true) return runAgent(host, command);
  terminal.say("Continue it here: ", styled("bold", formatCommand(command)));
  return exitCodes.done;
}

async function tell(context: Context, api: Api, archived: Parameters<typeof fetchArchived>[1]): Promise<number> {
  const { terminal, values, host } = context;
  const agent = requireAgent(String(values.told));
  const [trace, files] = [await fetchArchived(api, archived), await fetchChangedFiles(api, archived)];
  const text = tellSession(trace, files, findAgent(trace.source)?.title ?? trace.source);
  const { source, sourceId, title } = archived;
  terminal.json({ mode: "told", session: { source, sourceId, title }, text, command: agent.begin(text) });
  if (values.run === true) return runAgent(host, agent.begin(text));
  if (!terminal.isJson) terminal.message(text.trimEnd());
  return exitCodes.done;
}

async function repair({ host, terminal, words, values }: Context): Promise<number> {
  const [id] = words;
  if (id === undefined || words.length > 1)
    throw new CommandError("usage", `--repair takes a session's id. See: ${program} resume --help`);
  const agent = requireAgent("claude");
  const { path, copy, removed } = await repairClaude(agent.getHome(host), id, values.force === true);
  terminal.say(styled("green", "✓"), ` Removed ${formatCount(removed, "thought")} from ${path}`);
  terminal.say(`  The previous file is now ${copy}`);
  terminal.say("Go on with it: ", styled("bold", formatCommand(agent.resume(id))));
  terminal.json({ path, copy, removed, command: agent.resume(id) });
  return values.run === true ? runAgent(host, agent.resume(id)) : exitCodes.done;
}
