import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { watch } from "../commands/watch.ts";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { readManifest } from "../install/manifest.ts";
import { HttpError } from "../server/api.ts";
import { type AccountInfo, connectLoggedIn, fetchAccount } from "../server/connection.ts";
import { settingsPath } from "../settings.ts";
import { Terminal } from "../terminal/terminal.ts";
import { updateInBackground } from "../update/update.ts";
import { version } from "../version.ts";
import { ServiceLog } from "./log.ts";
import { readState, removeState, type ServiceState, writeState } from "./state.ts";
import { type Cause, causeOf, forgetTroubles, noteTrouble, readTroubles } from "./troubles.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How often it does what, in milliseconds; tests are in a hurry. */
export const paces = {
  /** The server hears of a service that has nothing to send, and the service of a token that was revoked. */
  heartbeatMs: 6 * hourMs,
  /** While something is wrong. */
  troubledHeartbeatMs: 15 * minuteMs,
  updateMs: dayMs,
  firstUpdateMs: 10 * minuteMs,
  /** After an account was full, or an unexpected error. */
  restMs: hourMs,
  /** Between looks at the settings, for a new login. */
  lookMs: 5000,
  /** A sending that went so long without an error is well. */
  wellMs: 20 * minuteMs,
};

/** Shorter than `wellMs`; then the trouble is noted, and it goes on. */
const patienceSeconds = 600;
const expiringDays = 7;

/**
 * Watches and sends until it is stopped, whatever happens: it waits for a new login, for room in the account, for the server.
 * What is wrong is noted, and shown on the desktop.
 */
export async function runInBackground(foreground: Context): Promise<void> {
  const { host, signal } = foreground;
  const log = new ServiceLog(host);
  const terminal = new Terminal(log, log, { isJson: false, env: { ...host.env, NO_COLOR: "1" } });
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const context: Context = { ...foreground, terminal, signal: both };
  const server = String(context.values.server ?? "");
  const state: ServiceState = { pid: process.pid, version, server, startedAt: new Date().toISOString() };
  terminal.warn(`Started: version ${version}, process ${process.pid}.`);
  await save(context, state);
  try {
    const tasks = [sendForever(context), reportForever(context, state), updateForever(context)];
    await Promise.race(tasks).finally(() => ended.abort());
    await Promise.allSettled(tasks);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    terminal.warn("Stopped.");
    if ((await readState(host))?.pid === process.pid) await removeState(host);
  }
}

/** The state is for people to read: where it can't be written, all else goes on. */
async function save({ host }: Context, state: ServiceState): Promise<void> {
  await writeState(host, state).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
  });
}

async function sendForever(context: Context): Promise<void> {
  const { signal, values } = context;
  const patient = { ...context, values: { ...values, patience: String(patienceSeconds) } };
  for (;;) {
    const login = await stampOfLogin(context);
    const well = setTimeout(() => void forgetTroubles(context.host, ["quota", "failed"]), paces.wellMs);
    try {
      await watch(patient);
    } catch (error) {
      signal.throwIfAborted();
      const cause = await note(context, error);
      if (cause !== "unreachable") await restOrLogin(context, cause, login);
    } finally {
      clearTimeout(well);
    }
    await sleep(paces.lookMs, undefined, { signal });
  }
}

/** Waits until there is a reason to try again: a login, or that time has passed. */
async function restOrLogin(context: Context, cause: Cause, login: string): Promise<void> {
  const deadline = performance.now() + paces.restMs;
  // Without a login nothing else helps; the others may end by themselves.
  while (cause === "login" || performance.now() < deadline) {
    if ((await stampOfLogin(context)) !== login) return;
    await sleep(paces.lookMs, undefined, { signal: context.signal });
  }
}

/** Changes with each login. */
const stampOfLogin = ({ host }: Context): Promise<string> =>
  stat(settingsPath(host)).then(
    ({ mtimeMs, size, ino }) => [mtimeMs, size, ino].join(),
    () => "",
  );

/** Tells the server that this machine is there, and learns from the answer whether it is still welcome. */
async function reportForever(context: Context, state: ServiceState): Promise<void> {
  const { host, signal } = context;
  for (;;) {
    try {
      const connection = await connectLoggedIn({ ...context, values: { ...context.values, patience: "0" } });
      const account = await fetchAccount(connection);
      state.heardAt = new Date().toISOString();
      await save(context, state);
      await forgetTroubles(host, ["login", "unreachable", "expiring"]);
      await noteExpiry(context, connection.server, account);
    } catch (error) {
      signal.throwIfAborted();
      await note(context, error);
    }
    const isTroubled = (await readTroubles(host)).some(({ cause }) => cause === "login" || cause === "unreachable");
    const pace = isTroubled ? paces.troubledHeartbeatMs : paces.heartbeatMs;
    await sleep(pace * (0.9 + Math.random() / 5), undefined, { signal });
  }
}

async function noteExpiry({ host }: Context, server: string, { expiresAt }: AccountInfo): Promise<void> {
  const days = (Date.parse(expiresAt) - Date.now()) / dayMs;
  if (!(days < expiringDays)) return;
  const message = `This machine's login at ${server} ends on ${expiresAt.slice(0, 10)}. Log in again with: spoor login`;
  await noteTrouble(host, "expiring", message);
}

/** Ends where a newer client has taken this one's place: the system starts that one then. */
async function updateForever(context: Context): Promise<void> {
  const { host, terminal, signal } = context;
  await sleep(paces.firstUpdateMs * (1 + Math.random()), undefined, { signal });
  for (;;) {
    try {
      if ((await readManifest(host))?.autoUpdate && (await updateInBackground(context))) return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CommandError || error instanceof HttpError)) throw error;
      terminal.warn(`Not updated: ${error.message}`);
    }
    await sleep(paces.updateMs * (0.9 + Math.random() / 5), undefined, { signal });
  }
}

/** Logs and notes an error. @returns which trouble it is */
export async function note(context: Context, error: unknown): Promise<Cause> {
  const { host, terminal } = context;
  const cause = causeOf(error);
  const reason = error instanceof Error ? error.message : String(error);
  const isExpected = error instanceof CommandError || error instanceof HttpError;
  terminal.warn(isExpected || !(error instanceof Error) ? reason : (error.stack ?? reason).replaceAll("\n", " "));
  await noteTrouble(host, cause, describe(cause, String(context.values.server ?? "the server"), reason));
  return cause;
}

function describe(cause: Cause, server: string, reason: string): string {
  if (cause === "login") return `This machine is not logged in to ${server} any more. Log in with: spoor login`;
  if (cause === "quota") return `Your account at ${server} is full, so no session is sent: ${reason}`;
  if (cause === "unreachable") return `No session could be sent to ${server}: ${reason}`;
  return `Sending to ${server} failed: ${reason}`;
}
