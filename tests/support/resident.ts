import { readdirSync, readFileSync } from "node:fs";

/**
 * Reads the resident memory of the child process that runs a file (built or source) from /proc; 0 on other systems than
 * Linux.
 */
export function residentBytes(file: string): number {
  const children = list("/proc/self/task").flatMap((id) => read(`/proc/self/task/${id}/children`).trim().split(" "));
  const pid = children.find((id) => read(`/proc/${id}/cmdline`).includes(file));
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}

const list = (path: string) => orNothing(() => readdirSync(path)) ?? [];
const read = (path: string) => orNothing(() => readFileSync(path, "utf8")) ?? "";

/** A process may end while it is examined. */
function orNothing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return undefined;
    throw error;
  }
}
