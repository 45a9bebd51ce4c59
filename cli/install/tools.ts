import { spawn } from "node:child_process";
import type { Host } from "../adapters/adapter.ts";

/** `code` is undefined if there is no such program. */
export type RanTool = { code: number | undefined; output: string };

const timeoutMs = 30_000;

/** Runs in the home folder: Windows, or a relative folder in PATH, would start a program from the current one. */
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

export const quoteSh = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export const quotePowerShell = (word: string): string => `'${word.replaceAll("'", "''")}'`;

/** `%` would begin a variable; a path can't contain quotation marks. */
export const quoteCmd = (word: string): string => `"${word.replaceAll("%", "%%")}"`;

/** `%` begins a specifier (systemd.syntax(7)). */
export const quoteUnit = (word: string): string =>
  `"${word.replaceAll(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("\n", "\\n")}"`;

/** `$` begins a variable in `ExecStart` (systemd.service(5), "Command lines"). */
export const quoteExec = (word: string): string => quoteUnit(word).replaceAll("$", "$$$$");

export const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** JSON's escapes are valid in TOML, except for DEL. */
export const quoteToml = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007F");
