import { access, constants, readFile, stat } from "node:fs/promises";
import type { Root } from "../adapters/adapter.ts";
import { adapters } from "../adapters/all.ts";
import { Refusal } from "../api.ts";
import { advice, type Connection, type Context, connect, whose } from "../context.ts";
import { exitCodes, Failure } from "../failure.ts";
import { isAbsent } from "../files.ts";
import { configFolder, stateFolder } from "../folders.ts";
import { isFields, parseJson } from "../lines.ts";
import { program } from "../program.ts";
import { settingsPath } from "../settings.ts";
import { printable } from "../terminal.ts";
import { version } from "../version.ts";

type Check = { name: string; ok: boolean; isNote?: boolean; detail: string };

/** How far the clocks may be apart, in seconds, before it is worth a word. */
const clockSeconds = 60;

/** Looks at everything that sending depends on, and says of each whether it is well. */
export async function doctor(context: Context): Promise<number> {
  const { terminal } = context;
  const connection = await connect(context, { patienceSeconds: 0 });
  const checks = [
    { name: "client", ok: true, detail: `spoor ${version}, Node ${process.version}, ${context.place.platform}` },
    ...(await serverChecks(context, connection)),
    await settingsCheck(context),
    ...(await Promise.all(
      adapters.flatMap((one) => one.diagnose(context.place).map((root) => rootCheck(one.title, root))),
    )),
    { name: "state", ok: true, isNote: true, detail: `${stateFolder(context.place)} (may be deleted)` },
  ];
  for (const { name, ok, isNote, detail } of checks) {
    const mark = !ok ? terminal.style("red", "✗") : isNote ? "·" : terminal.style("green", "✓");
    terminal.say(`${mark} ${name.padEnd(12)} ${printable(detail)}`);
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
    if (!(error instanceof Failure || error instanceof Refusal)) throw error;
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
    return { name: "login", ok: false, detail: `not logged in; log in with: ${advice(context, "login")}` };
  try {
    const { name, email, expiresAt } = await whose(connection);
    return { name: "login", ok: true, detail: `${name} <${email}>, until ${expiresAt.slice(0, 10)}` };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 401) throw error;
    return { name: "login", ok: false, detail: `the token is not valid any more; log in anew with: ${program} login` };
  }
}

async function settingsCheck({ place }: Context): Promise<Check> {
  const path = settingsPath(place);
  try {
    const { mode } = await stat(path);
    const isOpen = place.platform !== "win32" && (mode & 0o077) !== 0;
    const fault = await readFault(path);
    if (fault) return { name: "settings", ok: false, detail: `${path} ${fault}` };
    return { name: "settings", ok: !isOpen, detail: isOpen ? `${path} can be read by others: chmod 600 it` : path };
  } catch (error) {
    if (!isAbsent(error)) throw error;
    return { name: "settings", ok: true, isNote: true, detail: `none in ${configFolder(place)} yet` };
  }
}

/** Why settings that are there are not used. */
async function readFault(path: string): Promise<string | undefined> {
  try {
    return isFields(parseJson(await readFile(path, "utf8")))
      ? undefined
      : `is broken; log in anew with: ${program} login`;
  } catch (error) {
    if (isAbsent(error)) return "may not be read";
    throw error;
  }
}

async function rootCheck(title: string, { path, from }: Root): Promise<Check> {
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
