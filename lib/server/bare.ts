// What the launcher and lib/server/web.ts do elsewhere, for a process that another host started: a function, mostly.
import "server-only";
import { openSetup } from "#lib/auth/setup";
import { env, isFunctionHost, requiredEnv } from "#lib/env";
import { EnvError } from "#lib/errors";
import { log } from "#lib/log";
import { logConsole } from "#lib/observability/console";
import { nameRequests } from "#lib/server/name-requests";

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
  nameRequests();
  if (env().VERCEL) return; // it has a log of its own
  logConsole();
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
