import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { sendRounds } from "../commands/send-rounds.ts";
import { watch } from "../commands/watch.ts";
import type { Context } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { getRunningFile } from "../install/places.ts";
import { running } from "../running.ts";
import { HttpError } from "../server/api.ts";
import { settingsPath } from "../settings.ts";
import { Terminal } from "../terminal/terminal.ts";
import { ServiceLog } from "./log.ts";
import { readState, removeState, saveState } from "./state.ts";
import { type TroubleCause, findCause, forgetTroubles, noteTrouble, readTroubles } from "./troubles.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How often the service does what, in milliseconds. */
const paces = {
  /** The server hears of a service that has nothing to send, and the service of a token that was revoked. */
  reportMs: 6 * hourMs,
  /** While something is wrong. */
  troubledReportMs: 15 * minuteMs,
  /** After an account was full, or an unexpected error. */
  restMs: hourMs,
  /** Between looks at the settings, for a new login. */
  lookMs: 5000,
  /** A sending that went so long without an error is well; longer than its patience. */
  wellMs: 20 * minuteMs,
};

/** Then the trouble is noted, and it goes on. */
const patienceSeconds = 600;

/** The exit code of a report that has put a newer client in place. */
export const updatedCode = 10;

/** The same context with the service's log for its output. */
export function redirectToLog(context: Context): Context {
  const log = new ServiceLog(context.host);
  const env = { ...context.host.env, NO_COLOR: "1" };
  return { ...context, terminal: new Terminal(log, log, { isJson: false, env }) };
}

/**
 * Watches and sends until it is stopped, whatever happens: it waits for a new login, for room in the account, for the server.
 * What is wrong is noted, and shown on the desktop. All that talks to the server is in processes of their own, so that this one
 * stays small (see watch).
 */
export async function runInBackground(foreground: Context): Promise<number> {
  if (foreground.values.sender === true) return sendInBackground(foreground);
  const { host, signal } = foreground;
  const ended = new AbortController();
  const context: Context = { ...redirectToLog(foreground), signal: AbortSignal.any([signal, ended.signal]) };
  const server = String(context.values.server ?? "");
  context.terminal.warn(`Started: version ${running.version}, process ${process.pid}.`);
  await saveState(host, { pid: process.pid, version: running.version, server, startedAt: new Date().toISOString() });
  try {
    const tasks = [sendForever(context), reportForever(context)];
    await Promise.race(tasks).finally(() => ended.abort());
    await Promise.allSettled(tasks);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    context.terminal.warn("Stopped.");
    if ((await readState(host))?.pid === process.pid) await removeState(host);
  }
  return exitCodes.done;
}

/** The process of `watch` that sends. What ends it is a trouble. */
async function sendInBackground(foreground: Context): Promise<number> {
  const context = redirectToLog({ ...foreground, values: { ...foreground.values, patience: String(patienceSeconds) } });
  try {
    return await sendRounds(context);
  } catch (error) {
    foreground.signal.throwIfAborted();
    const cause = await noteError(context, error);
    if (cause === "login") return exitCodes.login;
    return cause === "unreachable" ? exitCodes.unreachable : exitCodes.failed;
  }
}

async function sendForever(context: Context): Promise<void> {
  const { host, signal } = context;
  for (;;) {
    const login = await readLoginStamp(context);
    const well = setTimeout(() => void forgetTroubles(host, ["quota", "failed"]), paces.wellMs);
    try {
      const code = await watch(context);
      clearTimeout(well);
      if (code !== exitCodes.unreachable) await restOrLogin(context, code === exitCodes.login, login);
    } catch (error) {
      clearTimeout(well);
      signal.throwIfAborted();
      await noteError(context, error);
      await restOrLogin(context, false, login);
    }
    await sleep(paces.lookMs, undefined, { signal });
  }
}

/** Waits until there is a reason to try again: a login, or that time has passed. */
async function restOrLogin(context: Context, needsLogin: boolean, login: string): Promise<void> {
  const deadline = performance.now() + paces.restMs;
  while (needsLogin || performance.now() < deadline) {
    if ((await readLoginStamp(context)) !== login) return;
    await sleep(paces.lookMs, undefined, { signal: context.signal });
  }
}

/** Changes with each login. */
const readLoginStamp = ({ host }: Context): Promise<string> =>
  stat(settingsPath(host)).then(
    ({ mtimeMs, size, ino }) => [mtimeMs, size, ino].join(),
    () => "",
  );

/** Reports again and again (report.ts). Ends where a newer client has taken this one's place: the system starts that one then. */
async function reportForever({ host, values, signal }: Context): Promise<void> {
  for (;;) {
    const words = [getRunningFile(), "service", "report", "--server", String(values.server ?? "")];
    const child = spawn(process.execPath, words, { stdio: "ignore", windowsHide: true, signal });
    child.on("error", () => {}); // it is not started, or aborted; the next one is
    const [code] = (await once(child, "close", { signal })) as [number | null];
    if (code === updatedCode) return;
    const isTroubled = (await readTroubles(host)).some(({ cause }) => cause === "login" || cause === "unreachable");
    const pace = isTroubled ? paces.troubledReportMs : paces.reportMs;
    await sleep(pace * (0.9 + Math.random() / 5), undefined, { signal });
  }
}

/** Logs and notes an error. @returns which trouble it is */
export async function noteError(context: Context, error: unknown): Promise<TroubleCause> {
  const { host, terminal, values } = context;
  const cause = findCause(error);
  const reason = error instanceof Error ? error.message : String(error);
  const isExpected = error instanceof CommandError || error instanceof HttpError;
  terminal.warn(isExpected || !(error instanceof Error) ? reason : (error.stack ?? reason).replaceAll("\n", " "));
  // A server may answer with anything, also with the token.
  await noteTrouble(host, cause, describe(cause, String(values.server ?? "the server"), terminal.plain(reason)));
  return cause;
}

function describe(cause: TroubleCause, server: string, reason: string): string {
  if (cause === "login") return `This machine is not logged in to ${server} any more. Log in with: spoor login`;
  if (cause === "quota") return `Your account at ${server} is full, so no session is sent: ${reason}`;
  if (cause === "unreachable") return `No session could be sent to ${server}: ${reason}`;
  return `Sending to ${server} failed: ${reason}`;
}
