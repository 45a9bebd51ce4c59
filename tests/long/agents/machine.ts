// A home and a repository of a run's own, in which an agent is run against the stand-in.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "./agents.ts";
import { path } from "./install.ts";

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

export type Machine = {
  /** It is the run's alone. */
  folder: string;
  home: string;
  repository: string;
  env: NodeJS.ProcessEnv;
};

/** @param url the stand-in's */
export async function makeMachine(agent: Agent, url: string, folder: string, name = "widgets"): Promise<Machine> {
  const [home, repository] = [join(folder, "home"), join(folder, name)];
  await makeRepository(repository);
  await mkdir(home, { recursive: true });
  for (const [file, content] of Object.entries(agent.files?.(url) ?? {})) {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), typeof content === "string" ? content : JSON.stringify(content));
  }
  const own = { PATH: path, HOME: home, PWD: repository, [mark]: folder, ...agent.environment?.(url) };
  return { folder, home, repository, env: { NODE_ENV: "production", ...quiet, ...own } };
}

/** @param onStart gets what ends the run by a signal @returns what the agent printed */
export async function runOn(
  { repository, env }: Machine,
  command: string,
  words: string[],
  onStart: (kill: (signal: NodeJS.Signals) => void) => void = () => {},
): Promise<string> {
  const child = spawn(command, words, { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const kill = (signal: NodeJS.Signals) => child.pid && killGroup(child.pid, signal);
  onStart(kill);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (output += part));
  const timer = setTimeout(() => kill("SIGKILL"), maxMilliseconds);
  await once(child, "exit");
  clearTimeout(timer);
  kill("SIGKILL");
  return output;
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

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Ends the processes that an agent left behind in groups of their own: they still have the run's variable (on Linux alone). */
export async function killStrays({ folder }: Pick<Machine, "folder">): Promise<void> {
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
