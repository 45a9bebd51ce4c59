import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A process as /proc describes it: its program's name, whether it has ended (a zombie), and its start in clock ticks. */
type ProcFacts = { name: string; ended: boolean; start: string };

/** Undefined without such a process, or without /proc. The file's second field may contain spaces and brackets. */
async function readProc(pid: number): Promise<ProcFacts | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const end = text.lastIndexOf(")");
  const [state = "", ...rest] = text.slice(end + 2).split(" ");
  if (end === -1) return undefined;
  return { name: text.slice(text.indexOf("(") + 1, end), ended: "ZX".includes(state), start: rest[18] ?? "" };
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Distinguishes a process from a later one with the same id: its id and start, in characters allowed in a file name.
 *
 * @returns undefined if it is not alive. A zombie is not: it has ended and only waits to be reaped.
 */
export async function identifyProcess(pid: number): Promise<string | undefined> {
  if (!exists(pid)) return undefined;
  if (process.platform === "linux") {
    const found = await readProc(pid);
    return found && !found.ended ? `${pid}_${found.start}` : undefined;
  }
  if (process.platform === "win32") return String(pid);
  const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim() ? `${pid}_${stdout.replaceAll(/\W/g, "")}` : undefined;
}

/**
 * Whether a process is alive and may be the PostgreSQL that serves a folder: after a restart of the machine, the id in a lock file may
 * be that of another server. Its working directory tells; without /proc, any living process may be it.
 */
export async function mayServe(pid: number, folder: string): Promise<boolean> {
  if (!exists(pid)) return false;
  if (process.platform !== "linux") return true;
  const found = await readProc(pid);
  if (found === undefined || found.ended || found.name !== "postgres") return false;
  try {
    const [own, its] = await Promise.all([stat(folder), stat(`/proc/${pid}/cwd`)]);
    return own.dev === its.dev && own.ino === its.ino;
  } catch (error) {
    return ["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? ""); // another account's: not ours to judge
  }
}
