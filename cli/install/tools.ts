import { spawn } from "node:child_process";
import type { Host } from "../adapters/adapter.ts";

/** `code` is undefined if there is no such program. */
export type RanTool = { code: number | undefined; output: string };

const timeoutMs = 30_000;

/**
 * Runs a system program from the home folder: Windows, and a PATH with relative folders, would find a program of that
 * name in the current folder, which may be a stranger's repository.
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
