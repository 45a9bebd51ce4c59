// Runs an agent through a scene, in a home and a repository of its own, against the stand-in.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Agent } from "./agents.ts";
import { path } from "./install.ts";
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

export const branch = "feature/dots";
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC";

/** No agent reports, updates itself, or reaches more than this machine. */
const quiet = {
  ...{ DO_NOT_TRACK: "1", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1", NO_UPDATE_NOTIFIER: "1" },
  ...{
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    GEMINI_TELEMETRY_ENABLED: "false",
  },
  ...{ OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1", QWEN_TELEMETRY_ENABLED: "false" },
  ...{ HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1,localhost" },
  ...{ GIT_CONFIG_NOSYSTEM: "1", TERM: "dumb", CI: "1" },
};

/** The variable by which a run's processes are known, also those that left its group. */
const mark = "SPOOR_AGENTS_RUN";
const maxMilliseconds = 120_000;

/** @param folder an empty one of the run's own */
export async function play(agent: Agent, command: string, scene: Scene, folder: string): Promise<Played> {
  const [home, repository] = [join(folder, "home"), join(folder, "widgets")];
  const begun = new Date();
  await makeRepository(repository);
  let hold = () => {};
  const standIn = await startStandIn({ folder: repository, context: agent.context, onHold: () => hold() });
  const { url } = standIn;
  const own = { PATH: path, HOME: home, PWD: repository, [mark]: folder, ...agent.environment?.(url) };
  const env: NodeJS.ProcessEnv = { NODE_ENV: "production", ...quiet, ...own };
  const files = Object.entries(agent.files?.(url) ?? {});
  for (const [name, content] of files) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  await mkdir(home, { recursive: true });
  let output = "";
  const run = async (words: string[]) => {
    const child = spawn(command, words, { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const kill = (signal: NodeJS.Signals) => child.pid && killGroup(child.pid, signal);
    hold = () => scene.signal && kill(scene.signal);
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (output += part));
    const timer = setTimeout(() => kill("SIGKILL"), maxMilliseconds);
    await once(child, "exit");
    clearTimeout(timer);
    kill("SIGKILL");
  };
  try {
    for (const [at, prompt] of scene.prompts.entries()) await run(agent.words(prompt, at > 0, home));
  } finally {
    await killStrays(folder);
    await standIn.stop();
  }
  const { exchanges } = standIn;
  const commits = await newCommits(repository);
  const ended = new Date();
  return { prompts: scene.prompts, exchanges, home, repository, commits, begun, ended, output: output.slice(-2000) };
}

async function makeRepository(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const git = (...words: string[]) => execFileSync("git", words, { cwd: folder, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("config", "user.email", "ada@example.org");
  git("config", "user.name", "Ada");
  git("remote", "add", "origin", "https://ada:a-password@github.com/example/widgets.git");
  await writeFile(join(folder, "readme.md"), "# Widgets\n");
  await writeFile(join(folder, "dot.png"), Buffer.from(dot, "base64"));
  git("add", "-A");
  git("commit", "-qm", "First");
  git("checkout", "-qb", branch);
}

async function newCommits(cwd: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("git", ["log", "--format=%H", "main..HEAD"], { cwd });
  return stdout.split("\n").filter(Boolean);
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Ends the processes that an agent left behind in groups of their own: they still have the run's variable (on Linux alone). */
async function killStrays(folder: string): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
    const found = [];
    for (const pid of pids) {
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (environment.split("\0").includes(`${mark}=${folder}`)) found.push(Number(pid));
    }
    if (found.length === 0) return;
    for (const pid of found) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
    await sleep(200);
  }
}
