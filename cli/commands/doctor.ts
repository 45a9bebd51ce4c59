import { randomBytes } from "node:crypto";
import { access, constants, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SearchRoot } from "../adapters/adapter.ts";
import { adapters } from "../adapters/registry.ts";
import { type Context, commandHint } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { isMissingOrForbidden } from "../files/discovery.ts";
import { isFields, parseJson } from "../files/json.ts";
import { configFolder, stateFolder } from "../files/state-files.ts";
import { listMissingFolders, removeEmptyFolders } from "../install/files.ts";
import { running } from "../program.ts";
import { HttpError } from "../server/api.ts";
import { type Connection, connect, fetchAccount } from "../server/connection.ts";
import { describeInvalidToken } from "../server/token.ts";
import { settingsPath } from "../settings.ts";
import { formatCount } from "../terminal/format.ts";
import { styled } from "../terminal/terminal.ts";

type Check = { name: string; ok: boolean; isNote?: boolean; detail: string };

const maxClockDifferenceSeconds = 60;

export async function doctor(context: Context): Promise<number> {
  const { terminal } = context;
  const connection = await connect(context, { patienceSeconds: 0 });
  const checks = [
    { name: "client", ok: true, detail: `spoor ${running.version}, Node ${process.version}, ${context.host.platform}` },
    ...(await checkServer(context, connection)),
    await checkSettings(context),
    ...(await checkAgents(context)),
    await checkWritable(
      "settings folder",
      configFolder(context.host),
      "no login and no choice of projects can be stored",
    ),
    await checkWritable("state folder", stateFolder(context.host), "everything is read and sent again each time"),
  ];
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, ok, isNote, detail } of checks) {
    const mark = !ok ? styled("red", "✗") : isNote ? "·" : styled("green", "✓");
    terminal.say(mark, ` ${name.padEnd(width)} ${detail}`);
  }
  terminal.json({ ok: checks.every(({ ok }) => ok), checks });
  const isReachable = checks.find(({ name }) => name === "server")?.ok;
  if (!isReachable) return exitCodes.unreachable;
  if (!checks.find(({ name }) => name === "login")?.ok) return exitCodes.login;
  return checks.every(({ ok }) => ok) ? exitCodes.done : exitCodes.failed;
}

async function checkServer(context: Context, connection: Connection): Promise<Check[]> {
  const { api, server } = connection;
  const startedAt = performance.now();
  try {
    const { headers } = await api.request("/api/health", { timeoutSeconds: 10 });
    const milliseconds = Math.round(performance.now() - startedAt);
    return [
      { name: "server", ok: true, detail: `${server} answered in ${milliseconds} ms` },
      checkClock(headers.get("date")),
      await checkLogin(context, connection),
    ];
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof HttpError)) throw error;
    return [{ name: "server", ok: false, detail: error.message }];
  }
}

function checkClock(date: string | null): Check {
  const at = Date.parse(date ?? "");
  if (Number.isNaN(at)) return { name: "clock", ok: true, detail: "the server did not send its time" };
  const seconds = Math.round((Date.now() - at) / 1000);
  const isRight = Math.abs(seconds) <= maxClockDifferenceSeconds;
  const direction = seconds > 0 ? "ahead of" : "behind";
  const detail = isRight ? "matches the server's" : `is ${Math.abs(seconds)} s ${direction} the server's`;
  return { name: "clock", ok: isRight, detail };
}

async function checkLogin(context: Context, connection: Connection): Promise<Check> {
  const hint = commandHint(context, "login");
  if (!connection.token) return { name: "login", ok: false, detail: `not logged in; log in with: ${hint}` };
  try {
    const { name, email, expiresAt } = await fetchAccount(connection);
    return { name: "login", ok: true, detail: `${name} <${email}>, expires ${expiresAt.slice(0, 10)}` };
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 401) throw error;
    return { name: "login", ok: false, detail: describeInvalidToken(context.host.env, hint) };
  }
}

async function checkSettings(context: Context): Promise<Check> {
  const { host } = context;
  const path = settingsPath(host);
  try {
    const { mode } = await stat(path);
    const problem = await findSettingsProblem(path, context);
    if (problem) return { name: "settings", ok: false, detail: `${path} ${problem}` };
    const isOpen = host.platform !== "win32" && (mode & 0o077) !== 0;
    const detail = isOpen ? `${path} can be read by other users; run: chmod 600 ${path}` : path;
    return { name: "settings", ok: !isOpen, detail };
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
    return { name: "settings", ok: true, isNote: true, detail: `none in ${configFolder(host)} yet` };
  }
}

async function findSettingsProblem(path: string, context: Context): Promise<string | undefined> {
  try {
    if (isFields(parseJson(await readFile(path, "utf8")))) return undefined;
    return `is not valid JSON; log in again with: ${commandHint(context, "login")}`;
  } catch (error) {
    if (isMissingOrForbidden(error)) return "can't be read: permission denied";
    throw error;
  }
}

/** Write permission does not imply free space. */
async function checkWritable(name: string, folder: string, otherwise: string): Promise<Check> {
  const path = join(folder, `doctor.${randomBytes(6).toString("hex")}`);
  const missing = await listMissingFolders(path);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(path, "x".repeat(4096), { mode: 0o600 });
    return { name, ok: true, detail: `${folder} can be written to` };
  } catch (error) {
    return { name, ok: false, detail: `${folder} can't be written to, so ${otherwise}: ${(error as Error).message}` };
  } finally {
    await rm(path, { force: true }).catch(() => {});
    await removeEmptyFolders(missing).catch(() => {});
  }
}

/** Some agents have dozens of folders, so missing ones are only listed if a variable names them. */
async function checkAgents({ host }: Context): Promise<Check[]> {
  const agents = await Promise.all(
    adapters.map(({ title, getSearchRoots }) =>
      Promise.all(getSearchRoots(host).map((root) => checkRoot(title, root))),
    ),
  );
  const missing = agents.filter((roots) => roots.every(({ isMissing }) => isMissing)).length;
  const listed = agents.flat().filter(({ isMissing, isNamed }) => !isMissing || isNamed);
  return [
    ...listed.map(({ isMissing: _isMissing, isNamed: _isNamed, ...check }) => check),
    ...(missing > 0
      ? [{ name: "agents", ok: true, isNote: true, detail: `${formatCount(missing, "agent")} not installed` }]
      : []),
  ];
}

type RootCheck = Check & { isMissing: boolean; isNamed: boolean };

async function checkRoot(title: string, { path, variable }: SearchRoot): Promise<RootCheck> {
  const isNamed = variable !== undefined;
  const source = variable ? ` (from ${variable})` : "";
  try {
    await access(path, constants.R_OK);
    return { name: title, ok: true, detail: path + source, isMissing: false, isNamed };
  } catch (error) {
    const isMissing = ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
    const reason = isMissing ? "not found" : "can't be read: permission denied";
    return { name: title, ok: isMissing, isNote: true, detail: `${path}${source} ${reason}`, isMissing, isNamed };
  }
}
