// `npm run bench:scan [CCUSAGE [ROUNDS]]`: a cold and a warm scan of a home of Claude Code's, and in turns with them another program's sum of the same.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { getUsage, tellUsage } from "../support/usage.ts";
import { writeClaudeHome } from "./claude-home.ts";

const [other, rounds = "7"] = process.argv.slice(2);
const sessions = 2048;
const program = resolve("dist/spoor.mjs");

type Run = { seconds: number; cpuSeconds: number; memoryMb?: number };

async function scan(home: string): Promise<Run> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["--import", tellUsage, program, "scan", "--json", "--no-telemetry"], {
    env: { NODE_ENV: "production", PATH: process.env.PATH, HOME: home },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`the client exited with ${code}: ${errors}`);
  return { seconds: (performance.now() - startedAt) / 1000, ...getUsage(errors) };
}

/** Runs the other program. A shell tells what it took of the processor. */
async function sum(home: string, path: string): Promise<Run> {
  const startedAt = performance.now();
  const { stdout } = await promisify(execFile)("sh", ["-c", '"$0" daily --json --offline >/dev/null && times', path], {
    env: { NODE_ENV: "production", PATH: process.env.PATH, HOME: home },
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const [, children = ""] = stdout.split("\n");
  const times = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => 60 * Number(minutes) + Number(rest),
  );
  return { seconds, cpuSeconds: times.reduce((all, one) => all + one, 0) };
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function tell(name: string, runs: Run[], others: Run[]): void {
  const of = (key: "seconds" | "cpuSeconds") => {
    const ratio = median(runs.map((run, at) => run[key] / (others[at]?.[key] ?? Number.NaN)));
    return `${median(runs.map((run) => run[key])).toFixed(2)} s${others.length > 0 ? ` (${ratio.toFixed(1)} ×)` : ""}`;
  };
  const memory = Math.max(...runs.map(({ memoryMb = 0 }) => memoryMb));
  console.log(`${name.padEnd(8)} ${of("cpuSeconds")} of CPU, ${of("seconds")} in all; ${memory.toFixed(0)} MiB peak`);
}

const home = await mkdtemp(join(tmpdir(), "spoor-bench-"));
try {
  const { bytes, requestBytes } = await writeClaudeHome(home, sessions);
  const share = ((100 * requestBytes) / bytes).toFixed(0);
  console.log(`${sessions} files, ${(bytes / 1e6).toFixed(0)} MB, ${share} % of it lines of requests`);
  const runs: Record<"cold" | "warm" | "other", Run[]> = { cold: [], warm: [], other: [] };
  for (let round = 0; round < Number(rounds); round++) {
    if (other) runs.other.push(await sum(home, other));
    await rm(join(home, ".local"), { recursive: true, force: true });
    runs.cold.push(await scan(home));
    runs.warm.push(await scan(home));
  }
  for (const name of ["cold", "warm"] as const) tell(name, runs[name], runs.other);
  if (other) tell("other", runs.other, []);
} finally {
  await rm(home, { recursive: true, force: true });
}
