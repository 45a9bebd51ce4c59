import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type Context, listValue } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { readManifest } from "../install/manifest.ts";
import { getRunningFile } from "../install/places.ts";
import { findService, runAll, type Service, type SystemCommand } from "../install/services/service.ts";
import { noteError, redirectToLog, runInBackground } from "../service/background.ts";
import { getLogPath, readLastLines } from "../service/log.ts";
import { report } from "../service/report.ts";
import { describeService, endProcess, findRunningPid, readState, sayTroubles } from "../service/state.ts";
import { forgetTroubles, readTroubles } from "../service/troubles.ts";
import { SentRecord } from "../sync/sent-record.ts";
import { warnKept } from "../terminal/outcomes.ts";
import { styled } from "../terminal/terminal.ts";
import { push } from "./push.ts";

/**
 * Users call the first four, the system calls `run` (which starts `report`), agents call `hook` (which starts `send`).
 */
const verbs = { status, start, stop, logs, run: runInBackground, report, hook, send };

export async function service(context: Context): Promise<number> {
  const [verb = "status", ...words] = context.words;
  if (!Object.hasOwn(verbs, verb)) {
    throw new CommandError("usage", `Unknown command "service ${verb}". Use status, start, stop or logs.`);
  }
  return (await verbs[verb as keyof typeof verbs]({ ...context, words })) ?? exitCodes.done;
}

async function status(context: Context): Promise<number> {
  const { host, terminal } = context;
  const manifest = await readManifest(host);
  const isRunning = manifest?.hasService === true && (await findService(host)?.isRunning()) === true;
  const state = await readState(host);
  const troubles = await readTroubles(host);
  terminal.say(describeService({ manifest, isRunning, state }));
  sayTroubles(terminal, troubles);
  const kept = await SentRecord.readKeptSessions(host);
  warnKept(terminal, kept);
  const installed = manifest?.hasService === true;
  terminal.json({ installed, running: isRunning, ...(state && { state }), troubles, kept });
  return isRunning ? exitCodes.done : exitCodes.failed;
}

async function installed({ host }: Context): Promise<Service> {
  const found = (await readManifest(host))?.hasService ? findService(host) : undefined;
  if (!found) throw new CommandError("usage", "No background service is installed. Install it with: spoor install");
  return found;
}

async function start(context: Context): Promise<number> {
  const found = await installed(context);
  return run(context, found.start(), "Running in the background.");
}

async function stop(context: Context): Promise<number> {
  const found = await installed(context);
  const code = await run(context, found.stop(), "Stopped. Start it with: spoor service start");
  // Windows ends the program's window, which may leave the program running.
  if (context.host.platform === "win32") await endProcess(context.host);
  return code;
}

async function run({ host, terminal }: Context, commands: SystemCommand[], done: string): Promise<number> {
  const failed = await runAll(host, commands);
  for (const line of failed) terminal.warn(`! ${line}`);
  terminal.json({ ok: failed.length === 0, failed });
  if (failed.length > 0) return exitCodes.failed;
  terminal.say(styled("green", "✓"), ` ${done}`);
  return exitCodes.done;
}

const followMs = 500;

async function logs({ host, terminal, values, signal }: Context): Promise<void> {
  const count = Number(values.lines ?? 50);
  if (!Number.isInteger(count) || count < 1) throw new CommandError("usage", "--lines must be a number from 1.");
  let shown = await readLastLines(host, count);
  if (shown.length === 0) terminal.say(`Nothing logged yet in ${getLogPath(host)}`);
  for (const line of shown) terminal.write(line);
  while (values.follow === true && !terminal.isUnread) {
    await sleep(followMs, undefined, { signal });
    const all = await readLastLines(host, Number.POSITIVE_INFINITY);
    const last = shown.at(-1);
    const fresh = last === undefined ? all : all.slice(all.lastIndexOf(last) + 1);
    for (const line of fresh) terminal.write(line);
    if (fresh.length > 0) shown = fresh;
  }
}

/**
 * It returns at once and never fails, because the calling agent would show that to its user. A running service sends by
 * itself.
 */
async function hook({ host, words: [source] }: Context): Promise<void> {
  if (source === undefined || (await findRunningPid(host)) !== undefined) return;
  const server = (await readManifest(host))?.server;
  const words = ["service", "send", "--source", source, ...(server === undefined ? [] : ["--server", server])];
  const child = spawn(process.execPath, [getRunningFile(), ...words], {
    cwd: host.home,
    env: host.env as NodeJS.ProcessEnv,
    stdio: "ignore",
    detached: true,
    windowsHide: true,
  });
  child.on("error", () => {});
  child.unref();
}

async function send(foreground: Context): Promise<number> {
  const { values, signal } = foreground;
  const sources = listValue(foreground, "source");
  const context = { ...redirectToLog(foreground), words: [], values: { ...values, "no-telemetry": true, yes: true } };
  const { host, terminal } = context;
  try {
    terminal.warn(`Sending what is new of ${sources.join(", ")}.`);
    const code = await push(context);
    await forgetTroubles(host);
    return code;
  } catch (error) {
    signal.throwIfAborted();
    await noteError(context, error);
    return exitCodes.failed;
  }
}
