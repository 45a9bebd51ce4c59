import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { sendRounds } from "../commands/send-rounds.ts";
import { watch } from "../commands/watch.ts";
import type { Context } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { getRunningFile } from "../install/places.ts";
import { running } from "../program.ts";
import { HttpError } from "../server/api.ts";
import { settingsPath } from "../settings.ts";
import { Terminal } from "../terminal/terminal.ts";
import { ServiceLog } from "./log.ts";
import { readBoot, readState, removeState, saveState } from "./state.ts";
import { findCause, forgetTroubles, noteTrouble, readTroubles, type TroubleCause } from "./troubles.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const paces = {
  /** A report shows that a token was revoked. */
  reportMs: 6 * hourMs,
  troubledReportMs: 15 * minuteMs,
  restMs: hourMs,
  lookMs: 5000,
  /** Sending this long without an error ends a trouble; it must exceed the patience. */
  wellMs: 20 * minuteMs,
};

/** After this the trouble is recorded, and sending continues. */
const patienceSeconds = 600;

export const updatedCode = 10;

export function redirectToLog(context: Context): Context {
  const log = new ServiceLog(context.host);
  const env = { ...context.host.env, NO_COLOR: "1" };
  return { ...context, terminal: new Terminal(log, log, { isJson: false, env }) };
}

/** Child processes do all network traffic, so that this one stays small. */
export async function runInBackground(foreground: Context): Promise<number> {
  if (foreground.values.sender === true) return sendInBackground(foreground);
  const { host, signal } = foreground;
  const ended = new AbortController();
  const context: Context = { ...redirectToLog(foreground), signal: AbortSignal.any([signal, ended.signal]) };
  const server = String(context.values.server ?? "");
  context.terminal.warn(`Started: version ${running.version}, process ${process.pid}.`);
  const [startedAt, boot] = [new Date().toISOString(), await readBoot()];
  await saveState(host, { pid: process.pid, version: running.version, server, startedAt, ...(boot && { boot }) });
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

/** Waits for a new login, or until the time has passed. */
async function restOrLogin(context: Context, needsLogin: boolean, login: string): Promise<void> {
  const deadline = performance.now() + paces.restMs;
  while (needsLogin || performance.now() < deadline) {
    if ((await readLoginStamp(context)) !== login) return;
    await sleep(paces.lookMs, undefined, { signal: context.signal });
  }
}

const readLoginStamp = ({ host }: Context): Promise<string> =>
  stat(settingsPath(host)).then(
    ({ mtimeMs, size, ino }) => [mtimeMs, size, ino].join(),
    () => "",
  );

/** It ends after an update so that the system starts the new client. */
async function reportForever({ host, values, signal }: Context): Promise<void> {
  for (;;) {
    const words = [getRunningFile(), "service", "report", "--server", String(values.server ?? "")];
    const child = spawn(process.execPath, words, { stdio: "ignore", windowsHide: true, signal });
    child.on("error", () => {});
    const [code] = (await once(child, "close", { signal })) as [number | null];
    if (code === updatedCode) return;
    const isTroubled = (await readTroubles(host)).some(({ cause }) => cause === "login" || cause === "unreachable");
    const pace = isTroubled ? paces.troubledReportMs : paces.reportMs;
    await sleep(pace * (0.9 + Math.random() / 5), undefined, { signal });
  }
}

export async function noteError(context: Context, error: unknown): Promise<TroubleCause> {
  const { host, terminal, values } = context;
  const cause = findCause(error);
  const reason = error instanceof Error ? error.message : String(error);
  const isExpected = error instanceof CommandError || error instanceof HttpError;
  terminal.warn(isExpected || !(error instanceof Error) ? reason : (error.stack ?? reason).replaceAll("\n", " "));
  // A server may answer with anything, including the token.
  await noteTrouble(host, cause, describe(cause, String(values.server ?? "the server"), terminal.plain(reason)));
  return cause;
}

function describe(cause: TroubleCause, server: string, reason: string): string {
  if (cause === "login") return `This machine is not logged in to ${server} any more. Log in with: spoor login`;
  if (cause === "quota") return `Your account at ${server} is full, so no session is sent: ${reason}`;
  if (cause === "unreachable") return `No session could be sent to ${server}: ${reason}`;
  return `Sending to ${server} failed: ${reason}`;
}
