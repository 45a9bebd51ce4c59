import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

type ProcFacts = { name: string; ended: boolean; start: string };

/** The second field of the file may contain spaces and brackets. */
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

/** A later process with the same id has another start time. */
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
 * After a restart of the machine, the id in a lock file may be another server's, which has another working directory.
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
    return ["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? ""); // another account's process
  }
}
