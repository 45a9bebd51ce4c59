import { spawn } from "node:child_process";
import type { Host } from "../adapters/adapter.ts";

/** How a program of the system ended; `code` is undefined where there is no such program. */
export type RanTool = { code: number | undefined; output: string };

const timeoutMs = 30_000;

/**
 * Runs a program of the system to its end, from the home folder: a PATH with a relative folder, and Windows always, would find a
 * program of that name in the current one, which may be a stranger's repository.
 *
 * @param more variables beside the host's
 */
export function runTool(
  { env, home }: Host,
  [name = "", ...words]: string[],
  more: Record<string, string> = {},
): Promise<RanTool> {
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(name, words, {
      cwd: home,
      env: { ...env, ...more } as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      windowsHide: true,
    });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
    child.on("error", () => resolve({ code: undefined, output: `there is no ${name}` }));
    child.on("close", (code) => resolve({ code: code ?? 1, output: output.trim() }));
  });
}
