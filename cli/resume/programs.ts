import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { quoteSh } from "../install/tools.ts";

const maxOutputChars = 100_000;

/** A program in the current folder can't be trusted, so only absolute folders of the PATH are searched. */
async function findProgram({ env, platform }: Host, name: string): Promise<string> {
  const file = platform === "win32" ? `${name}.exe` : name;
  for (const folder of (env.PATH ?? env.Path ?? "").split(delimiter)) {
    const path = join(folder, file);
    if (
      isAbsolute(folder) &&
      (await access(path, constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      return path;
  }
  throw new CommandError("failed", `${name} was not found on the PATH.`);
}

export const formatCommand = (words: readonly string[]): string =>
  words.map((word) => (/^[\w./@%+=:,-]+$/.test(word) ? word : quoteSh(word))).join(" ");

/** @returns the agent's exit code */
export async function runAgent(host: Host, words: string[]): Promise<number> {
  // The agent handles an interrupt itself.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  try {
    return (await start(host, words, "inherit")).code;
  } finally {
    process.off("SIGINT", ignore);
  }
}

export async function start(
  host: Host,
  [name = "", ...words]: string[],
  stdio: "inherit" | "pipe",
): Promise<{ code: number; output: string }> {
  const { cwd, env } = host;
  const path = await findProgram(host, name);
  return new Promise((resolve, reject) => {
    const child = spawn(path, words, { cwd, env: env as NodeJS.ProcessEnv, stdio, windowsHide: true });
    let output = "";
    child.stdin?.end();
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        if (output.length < maxOutputChars) output += chunk;
      });
    child.on("error", ({ message }) => reject(new CommandError("failed", `${name} can't be started: ${message}.`)));
    child.on("close", (code) => resolve({ code: code ?? 1, output: output.trim() }));
  });
}
