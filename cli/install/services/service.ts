import type { Host } from "../../adapters/adapter.ts";
import type { PlannedFile } from "../files.ts";
import { type RanTool, runTool } from "../tools.ts";
import { launchd } from "./launchd.ts";
import { systemd } from "./systemd.ts";
import { taskScheduler } from "./task-scheduler.ts";

export type ServiceSpec = {
  words: string[];
  server: string;
  /** A service gets nothing from a shell's profile. */
  env: Record<string, string>;
};

/** A command that `mayFail` fails if there is nothing to change. */
export type SystemCommand = { words: string[]; mayFail?: boolean };

export interface Service {
  readonly title: string;
  files(spec: ServiceSpec): PlannedFile[];
  /** The lines say why it can't be used here and what to do instead; undefined if it can. */
  findObstacle(): Promise<string[] | undefined>;
  /** Starts it now and at each login. */
  start(): SystemCommand[];
  stop(): SystemCommand[];
  restart(): SystemCommand[];
  forget(): SystemCommand[];
  isRunning(): Promise<boolean>;
}

export async function runAll(host: Host, commands: SystemCommand[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { words, mayFail } of commands) {
    const ran: RanTool = await runTool(host, words);
    if (ran.code !== 0 && !mayFail) failed.push(`${words.join(" ")}: ${ran.output || `ended with ${ran.code}`}`);
  }
  return failed;
}

export function findService(host: Host): Service | undefined {
  if (host.platform === "linux") return systemd(host);
  if (host.platform === "darwin") return launchd(host);
  return host.platform === "win32" ? taskScheduler(host) : undefined;
}
