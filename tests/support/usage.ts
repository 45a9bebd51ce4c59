/**
 * Makes a process report its resource usage when it exits. On Linux, its maximum resident memory would include that of the
 * process that started it, so it is read from /proc.
 */
const script = `import { existsSync, readFileSync } from "node:fs";
  const own = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  process.on("exit", () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    const memory = existsSync("/proc/self/status") ? own() : maxRSS;
    process.stderr.write("\\nused " + memory + " KiB, " + (userCPUTime + systemCPUTime) + " µs\\n");
  });`;

/** The value of Node's `--import` that loads the script. */
export const tellUsage = `data:text/javascript,${encodeURIComponent(script)}`;

/** Parses such a process's stderr: its peak memory in MiB, and its CPU time in seconds. */
export function getUsage(errors: string): { memoryMb: number; cpuSeconds: number } {
  const [, memory, cpu] = /^used (\d+) KiB, (\d+) µs$/m.exec(errors) ?? [];
  return { memoryMb: Number(memory) / 1024, cpuSeconds: Number(cpu) / 1e6 };
}
