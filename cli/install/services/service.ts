import type { Host } from "../../adapters/adapter.ts";
import type { PlannedFile } from "../files.ts";
import { type RanTool, runTool } from "../tools.ts";

/** What runs in the background. */
export type ServiceSpec = {
  /** The program and its arguments. */
  words: string[];
  server: string;
  /** Variables that it needs: nothing of a shell's profile reaches a service. */
  env: Record<string, string>;
};

/** A command of the system. One that `mayFail` changes nothing where there is nothing to change. */
export type SystemCommand = { words: string[]; mayFail?: boolean };

/** What starts programs in the background on a system, for one user. */
export interface Service {
  readonly title: string;
  files(spec: ServiceSpec): PlannedFile[];
  /** Why it can't be used here, and what to do instead, a line each; undefined where it can. */
  findObstacle(): Promise<string[] | undefined>;
  /** From now on, and at each login. */
  start(): SystemCommand[];
  /** Until `start`. */
  stop(): SystemCommand[];
  /** What runs takes a new file over. */
  restart(): SystemCommand[];
  /** After its files are gone. */
  forget(): SystemCommand[];
  isRunning(): Promise<boolean>;
}

/** @returns the commands that failed, each with what it said */
export async function runAll(host: Host, commands: SystemCommand[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { words, mayFail } of commands) {
    const ran: RanTool = await runTool(host, words);
    if (ran.code !== 0 && !mayFail) failed.push(`${words.join(" ")}: ${ran.output || `ended with ${ran.code}`}`);
  }
  return failed;
}
