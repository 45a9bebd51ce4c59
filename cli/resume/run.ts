// Starts the agent, or says how.
import { spawn } from "node:child_process";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { quoteSh } from "../install/tools.ts";

export const formatCommand = (words: readonly string[]): string =>
  words.map((word) => (/^[\w./@%+=:,-]+$/.test(word) ? word : quoteSh(word))).join(" ");

/** @returns the agent's exit code */
export function runAgent({ cwd, env }: Host, [command = "", ...words]: string[]): Promise<number> {
  // The agent handles an interrupt itself.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  return new Promise<number>((resolve, reject) => {
    const child = spawn(command, words, { cwd, env: env as NodeJS.ProcessEnv, stdio: "inherit" });
    child.on("error", ({ message }) =>
      reject(
        new CommandError(
          "failed",
          `${command} can't be started (${message}). Run: ${formatCommand([command, ...words])}`,
        ),
      ),
    );
    child.on("close", (code) => resolve(code ?? 1));
  }).finally(() => process.off("SIGINT", ignore));
}
