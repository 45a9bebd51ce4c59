// The launcher lives as long as its processes, so it loads little. It prints for people.
import "server-only";
import { once } from "node:events";
import { EnvError } from "#lib/core/errors";
import { listenForStop, runCommand, say } from "#server/commands/command";
import { prepareDatabase } from "#server/commands/database";
import { type Role, serve, startProcesses } from "#server/http/serve";
import { launch, program } from "#server/processes";

const roles = ["all", "dev", "web", "worker", "migrate"];

async function main(role: Role | "migrate"): Promise<number> {
  // Handled from here on, so that a signal during the start still stops the database.
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
  throw new EnvError("Stopped before the database was migrated.");
}

async function prepare(role: string): Promise<{ code: number; greeting: string[] }> {
  const child = launch([program("prepare"), role], {});
  let greeting: string[] = [];
  child.on("message", (lines: string[]) => {
    greeting = lines;
  });
  const [code] = await once(child, "close");
  return { code: code ?? 1, greeting };
}

await runCommand(async () => {
  const [role = "all"] = process.argv.slice(2);
  if (roles.includes(role)) return main(role as Role);
  throw new EnvError(
    `Unknown role "${role}". Use dev, web, worker or migrate; all, or none, for web and worker together.`,
  );
});
