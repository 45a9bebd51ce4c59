/**
 * Makes a process say at its end what it took. Linux's resource usage begins with the memory that the process had that
 * started it; its own is in /proc.
 */
const script = `import { existsSync, readFileSync } from "node:fs";
  const own = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  process.on("exit", () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    const memory = existsSync("/proc/self/status") ? own() : maxRSS;
    process.stderr.write("\\nused " + memory + " KiB, " + (userCPUTime + systemCPUTime) + " µs\\n");
  });`;

/** What Node's `--import` takes for that. */
export const tellUsage = `data:text/javascript,${encodeURIComponent(script)}`;

/** What such a process took, from what it wrote as errors: the most memory in MiB, and the processor's time in seconds. */
export function usageOf(errors: string): { memoryMb: number; cpuSeconds: number } {
  const [, memory, cpu] = /^used (\d+) KiB, (\d+) µs$/m.exec(errors) ?? [];
  return { memoryMb: Number(memory) / 1024, cpuSeconds: Number(cpu) / 1e6 };
}
