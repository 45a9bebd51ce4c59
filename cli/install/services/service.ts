import type { Host } from "../../adapters/adapter.ts";
import type { PlannedFile } from "../files.ts";
import { type Ran, runTool } from "../tools.ts";

/** What runs in the background. */
export type Spec = {
  /** The program and its arguments. */
  words: string[];
  server: string;
  /** Variables that it needs: nothing of a shell's profile reaches a service. */
  env: Record<string, string>;
};

/** A command of the system. One that `mayFail` changes nothing where there is nothing to change. */
export type Command = { words: string[]; mayFail?: boolean };

/** What starts programs in the background on a system, for one user. */
export interface Service {
  readonly title: string;
  files(spec: Spec): PlannedFile[];
  /** Why it can't be used here, and what to do instead, a line each; undefined where it can. */
  obstacle(): Promise<string[] | undefined>;
  /** From now on, and at each login. */
  start(): Command[];
  /** Until `start`. */
  stop(): Command[];
  /** What runs takes a new file over. */
  restart(): Command[];
  /** After its files are gone. */
  forget(): Command[];
  isRunning(): Promise<boolean>;
}

/** @returns the commands that failed, each with what it said */
export async function runAll(host: Host, commands: Command[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { words, mayFail } of commands) {
    const ran: Ran = await runTool(host, words);
    if (ran.code !== 0 && !mayFail) failed.push(`${words.join(" ")}: ${ran.output || `ended with ${ran.code}`}`);
  }
  return failed;
}
