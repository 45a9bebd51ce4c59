import { readFile, rm } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import type { Manifest } from "../install/manifest.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";
import type { Trouble } from "./troubles.ts";

export type ServiceState = {
  pid: number;
  version: string;
  server: string;
  startedAt: string;
  heardAt?: string;
  boot?: string;
};

const getStatePath = (host: Host): string => join(stateFolder(host), "service.json");

/** The state is only informational, so a failed write is ignored. */
export async function saveState(host: Host, state: ServiceState): Promise<void> {
  await writeFileAtomically(getStatePath(host), JSON.stringify(state)).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
  });
}

export const removeState = (host: Host): Promise<void> => rm(getStatePath(host), { force: true });

export async function readState(host: Host): Promise<ServiceState | undefined> {
  const found = await readJsonFile(getStatePath(host));
  if (!isFields(found) || typeof found.pid !== "number" || typeof found.startedAt !== "string") return undefined;
  return {
    pid: found.pid,
    version: String(found.version),
    server: String(found.server),
    startedAt: found.startedAt,
    ...(typeof found.heardAt === "string" && { heardAt: found.heardAt }),
    ...(typeof found.boot === "string" && { boot: found.boot }),
  };
}

/** Linux has an id for each boot, which changes of the clock don't affect. */
export const readBoot = (): Promise<string | undefined> =>
  readFile("/proc/sys/kernel/random/boot_id", "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );

/** @returns undefined if no service runs; after a reboot another process may have its id */
export async function findRunningPid(host: Host): Promise<number | undefined> {
  const state = await readState(host);
  if (!state || !(await isSinceBoot(state))) return undefined;
  return signal(state.pid, 0) ? state.pid : undefined;
}

async function isSinceBoot({ boot, startedAt }: ServiceState): Promise<boolean> {
  const current = boot === undefined ? undefined : await readBoot();
  return current === undefined ? Date.parse(startedAt) >= Date.now() - uptime() * 1000 : boot === current;
}

export async function endProcess(host: Host): Promise<void> {
  const pid = await findRunningPid(host);
  if (pid !== undefined) signal(pid, "SIGTERM");
}

function signal(pid: number, name: "SIGTERM" | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

type ServiceFacts = { manifest: Manifest | undefined; isRunning: boolean; state: ServiceState | undefined };

const formatMinute = (at: string): string => `${at.slice(0, 16).replace("T", " ")} UTC`;

export function describeService({ manifest, isRunning, state }: ServiceFacts): string {
  if (!manifest?.hasService) return "No background service is installed. Install it with: spoor install";
  const heard = state?.heardAt ? ` Last report to the server: ${formatMinute(state.heardAt)}.` : "";
  if (!isRunning) return `The background service is not running. Start it with: spoor service start.${heard}`;
  const since = state ? ` since ${formatMinute(state.startedAt)} (version ${state.version})` : "";
  const updates = manifest.autoUpdate ? "" : " It does not update itself.";
  return `The background service is running${since} and sends to ${manifest.server}.${heard}${updates}`;
}

export function sayTroubles(terminal: Terminal, troubles: Trouble[]): void {
  for (const { message, since } of troubles) {
    terminal.warn(styled("yellow", "!"), ` Since ${formatMinute(since)}: ${message}`);
  }
}
