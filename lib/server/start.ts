// The launcher: it has everything prepared, starts the processes of its role, and keeps them and the embedded database running.
// It prints for people; the processes log lines of JSON. It loads next to nothing, for it lives as long as they do.
import "server-only";
import { once } from "node:events";
import { takeOverEmbedded } from "#lib/db/embedded";
import { EnvError } from "#lib/errors";
import { listenForStop, runCommand, say } from "#lib/server/command";
import { launch, program } from "#lib/server/processes";
import { type Role, serve } from "#lib/server/serve";

/** What the launcher is told once everything is prepared. */
export type Prepared = {
  /** For the processes. */
  variables: { DATABASE_URL: string; AUTH_SECRET: string };
  /** Lines to print when they are ready. */
  greeting: string[];
  /** The folder of the embedded database, where it is used. */
  dataDir: string | undefined;
};

const roles = ["all", "dev", "web", "worker", "migrate"];

/** @returns the exit code */
async function main(role: Role | "migrate"): Promise<number> {
  // Signals are handled from here on, so that one during the start still stops the database.
  const stopRequest = listenForStop();
  const preparing = launch([program("prepare"), role], {});
  const exit = once(preparing, "exit");
  const [prepared] = (await Promise.race([once(preparing, "message"), exit.then(() => [])])) as [Prepared?];
  if (!prepared) return (await exit)[0] ?? 1; // it was no more than a migration, or has said why it failed
  const { variables, greeting, dataDir } = prepared;
  const database = dataDir ? await takeOverEmbedded(dataDir, variables.DATABASE_URL) : undefined;
  preparing.send("taken over", () => {});
  try {
    await serve(role as Role, variables, database, stopRequest, async () => {
      for (const line of greeting) say(line);
      return true;
    });
  } finally {
    await exit;
    await database?.stop();
  }
  return 0;
}

await runCommand(async () => {
  const [role = "all"] = process.argv.slice(2);
  if (roles.includes(role)) return main(role as Role);
  throw new EnvError(`Unknown role "${role}". Use dev, web, worker or migrate, or none for web and worker together.`);
});
