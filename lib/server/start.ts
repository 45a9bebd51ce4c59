// The launcher: it owns the embedded database, has everything prepared, starts the processes of its role, and keeps all of them running.
// It prints for people; the processes log lines of JSON. It loads little, for it lives as long as they do.
import "server-only";
import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { EnvError } from "#lib/errors";
import { listenForStop, runCommand, say } from "#lib/server/command";
import { prepareDatabase } from "#lib/server/database";
import { launch, program } from "#lib/server/processes";
import { type Role, serve, startProcesses } from "#lib/server/serve";

// What only watches gains nothing from an optimizing compiler, which stays in memory once it was used: 6 MiB.
for (const flag of ["--no-opt", "--no-maglev"]) setFlagsFromString(flag);

const roles = ["all", "dev", "web", "worker", "migrate"];

/** @returns the exit code */
async function main(role: Role | "migrate"): Promise<number> {
  // Signals are handled from here on, so that one during the start still stops the database.
  const stopRequest = listenForStop();
  const database = await prepareDatabase({ kind: "launcher", signal: stopRequest }).catch((error) => {
    if (error !== stopRequest.reason) throw error;
  });
  if (!database) return role === "migrate" ? stoppedEarly() : 0;
  try {
    const { code, greeting } = await prepare(role);
    if (code !== 0 || role === "migrate") return code;
    if (stopRequest.aborted) return 0;
    await serve(startProcesses(role, {}, stopRequest, database.whenUp), database, stopRequest, async () => {
      for (const line of greeting) say(line);
      return true;
    });
    return 0;
  } finally {
    await database.stop();
  }
}

function stoppedEarly(): never {
  throw new EnvError("Stopped before the database was brought to this version.");
}

/** Runs `prepare.ts` to its end. @returns its exit code, and the lines to print when the processes are ready */
async function prepare(role: string): Promise<{ code: number; greeting: string[] }> {
  const child = launch([program("prepare"), role], {});
  let greeting: string[] = [];
  child.on("message", (lines: string[]) => {
    greeting = lines;
  });
  const [code] = await once(child, "close"); // after its messages
  return { code: code ?? 1, greeting };
}

await runCommand(async () => {
  const [role = "all"] = process.argv.slice(2);
  if (roles.includes(role)) return main(role as Role);
  throw new EnvError(
    `Unknown role "${role}". Use dev, web, worker or migrate; all, or none, for web and worker together.`,
  );
});
