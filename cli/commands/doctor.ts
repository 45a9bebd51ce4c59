import { access, constants, readFile, stat } from "node:fs/promises";
import type { SearchRoot } from "../adapters/adapter.ts";
import { adapters } from "../adapters/registry.ts";
import { type Connection, type Context, commandHint, connect, fetchAccount } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { isMissingOrForbidden } from "../files/discovery.ts";
import { isFields, parseJson } from "../files/json-lines.ts";
import { configFolder, stateFolder } from "../files/state-files.ts";
import { program } from "../program.ts";
import { HttpError } from "../server/api.ts";
import { settingsPath } from "../settings.ts";
import { toPrintable } from "../terminal/terminal.ts";
import { version } from "../version.ts";

type Check = { name: string; ok: boolean; isNote?: boolean; detail: string };

/** How far the clocks may be apart, in seconds, before it is worth a word. */
const clockSeconds = 60;

/** Looks at everything that sending depends on, and says of each whether it is well. */
export async function doctor(context: Context): Promise<number> {
  const { terminal } = context;
  const connection = await connect(context, { patienceSeconds: 0 });
  const checks = [
    { name: "client", ok: true, detail: `spoor ${version}, Node ${process.version}, ${context.host.platform}` },
    ...(await serverChecks(context, connection)),
    await settingsCheck(context),
    ...(await Promise.all(
      adapters.flatMap((one) => one.diagnose(context.host).map((root) => rootCheck(one.title, root))),
    )),
    { name: "state", ok: true, isNote: true, detail: `${stateFolder(context.host)} (may be deleted)` },
  ];
  for (const { name, ok, isNote, detail } of checks) {
    const mark = !ok ? terminal.style("red", "✗") : isNote ? "·" : terminal.style("green", "✓");
    terminal.say(`${mark} ${name.padEnd(12)} ${toPrintable(detail)}`);
  }
  terminal.json({ ok: checks.every(({ ok }) => ok), checks });
  const reachable = checks.find(({ name }) => name === "server")?.ok;
  if (!reachable) return exitCodes.unreachable;
  if (!checks.find(({ name }) => name === "login")?.ok) return exitCodes.login;
  return checks.every(({ ok }) => ok) ? exitCodes.done : exitCodes.failed;
}

async function serverChecks(context: Context, connection: Connection): Promise<Check[]> {
  const { api, server } = connection;
  const startedAt = performance.now();
  try {
    const { headers } = await api.ask("/api/health", { timeoutSeconds: 10 });
    const milliseconds = Math.round(performance.now() - startedAt);
    return [
      { name: "server", ok: true, detail: `${server} answers in ${milliseconds} ms` },
      clockCheck(headers.get("date")),
      await loginCheck(context, connection),
    ];
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof HttpError)) throw error;
    return [{ name: "server", ok: false, detail: error.message }];
  }
}

/** A wrong clock breaks nothing here; what is dated by it stands at the wrong place in lists. */
function clockCheck(date: string | null): Check {
  const seconds = date ? Math.round((Date.now() - Date.parse(date)) / 1000) : 0;
  const isRight = Math.abs(seconds) <= clockSeconds;
  const direction = seconds > 0 ? "ahead of" : "behind";
  const detail = isRight ? "agrees with the server's" : `is ${Math.abs(seconds)} s ${direction} the server's`;
  return { name: "clock", ok: isRight, detail };
}

async function loginCheck(context: Context, connection: Connection): Promise<Check> {
  if (!connection.token)
    return { name: "login", ok: false, detail: `not logged in; log in with: ${commandHint(context, "login")}` };
  try {
    const { name, email, expiresAt } = await fetchAccount(connection);
    return { name: "login", ok: true, detail: `${name} <${email}>, until ${expiresAt.slice(0, 10)}` };
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 401) throw error;
    return { name: "login", ok: false, detail: `the token is not valid any more; log in anew with: ${program} login` };
  }
}

async function settingsCheck({ host }: Context): Promise<Check> {
  const path = settingsPath(host);
  try {
    const { mode } = await stat(path);
    const isOpen = host.platform !== "win32" && (mode & 0o077) !== 0;
    const fault = await readFault(path);
    if (fault) return { name: "settings", ok: false, detail: `${path} ${fault}` };
    return { name: "settings", ok: !isOpen, detail: isOpen ? `${path} can be read by others: chmod 600 it` : path };
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
    return { name: "settings", ok: true, isNote: true, detail: `none in ${configFolder(host)} yet` };
  }
}

/** Why settings that are there are not used. */
async function readFault(path: string): Promise<string | undefined> {
  try {
    return isFields(parseJson(await readFile(path, "utf8")))
      ? undefined
      : `is broken; log in anew with: ${program} login`;
  } catch (error) {
    if (isMissingOrForbidden(error)) return "may not be read";
    throw error;
  }
}

async function rootCheck(title: string, { path, from }: SearchRoot): Promise<Check> {
  const named = from ? ` (from ${from})` : "";
  try {
    await access(path, constants.R_OK);
    return { name: title, ok: true, detail: path + named };
  } catch (error) {
    const isMissing = ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
    const reason = isMissing ? "is not there" : "may not be read";
    return { name: title, ok: isMissing, isNote: true, detail: `${path}${named} ${reason}` };
  }
}
