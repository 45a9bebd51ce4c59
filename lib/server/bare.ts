// What the launcher and lib/server/web.ts do elsewhere, for a process that another host started: a container that runs
// `server.js`, `next start`, a function.
import "server-only";
import { openSetup } from "#lib/auth/setup";
import { env, isFunctionHost, requiredEnv } from "#lib/env";
import { EnvError } from "#lib/errors";
import { log } from "#lib/log";
import { logConsole } from "#lib/observability/console";
import { adoptServers, nameRequests } from "#lib/server/adopt";

/** Ends the process with a message where its environment is not valid, as every start does. */
export async function startBare(): Promise<void> {
  try {
    requiredEnv("DATABASE_URL");
    requiredEnv("AUTH_SECRET");
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  // `next dev` has its own ways.
  if (env().NODE_ENV !== "production") return;
  // Vercel has a server and a log of its own, and tells the client's address.
  if (env().VERCEL) return nameRequests();
  logConsole();
  await adoptServers();
  if (!isFunctionHost(env()) && env().SETUP_TOKEN === undefined) printSetup();
}

/** The link for the first account, as the launcher prints it. The database may still be starting. */
async function printSetup(): Promise<void> {
  try {
    const link = await openSetup();
    if (link) process.stdout.write(`\nCreate the first account (this link works once):\n  ${link}\n\n`);
  } catch (error) {
    log.warn(
      { err: error },
      "the set-up link could not be made; set SETUP_TOKEN, or start again once the database answers",
    );
  }
}
