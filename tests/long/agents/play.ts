// Runs an agent through a scene, in a home and a repository of its own, against the stand-in.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Agent } from "./agents.ts";
import { killStrays, makeMachine, runOn } from "./machine.ts";
import type { Scene } from "./scenes.ts";
import { type Exchange, startStandIn } from "./standin.ts";

export type Played = {
  prompts: string[];
  exchanges: Exchange[];
  home: string;
  repository: string;
  /** The commits that the agent made. */
  commits: string[];
  begun: Date;
  ended: Date;
  /** What the agent printed last. */
  output: string;
};

/** @param folder an empty one of the run's own */
export async function play(agent: Agent, command: string, scene: Scene, folder: string): Promise<Played> {
  const begun = new Date();
  let hold = () => {};
  const options = { folder: join(folder, "widgets"), context: agent.context, onHold: () => hold() };
  const standIn = await startStandIn(options);
  const machine = await makeMachine(agent, standIn.url, folder);
  const { home, repository } = machine;
  let output = "";
  try {
    for (const [at, prompt] of scene.prompts.entries()) {
      output += await runOn(machine, command, agent.words(prompt, at > 0, home), (kill) => {
        hold = () => scene.signal && kill(scene.signal);
      });
    }
  } finally {
    await killStrays(machine);
    await standIn.stop();
  }
  const { exchanges } = standIn;
  const commits = await newCommits(repository);
  const ended = new Date();
  return { prompts: scene.prompts, exchanges, home, repository, commits, begun, ended, output: output.slice(-2000) };
}

async function newCommits(cwd: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("git", ["log", "--format=%H", "main..HEAD"], { cwd });
  return stdout.split("\n").filter(Boolean);
}
