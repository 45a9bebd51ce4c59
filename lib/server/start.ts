// The launcher: `npm start` and its parts. It prints for people; the processes it starts log lines of JSON.
import "server-only";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { openSetup } from "#lib/auth/setup";
import { closeDatabase } from "#lib/db/client";
import { type EmbeddedDatabase, startEmbedded } from "#lib/db/embedded";
import { migrate } from "#lib/db/migrate";
import { readOrMake } from "#lib/db/secret-file";
import { directDatabaseUrl, EnvError, env, requiredEnv, setEnv } from "#lib/env";
import { isOutage, postgresCode } from "#lib/errors";
import { installQueues } from "#lib/queue/queues";
import { buildClientIfNeeded, buildIfNeeded } from "#lib/server/build";
import { warningOf } from "#lib/server/listen";
import { supervise } from "#lib/server/processes";
import { enableSinks } from "#lib/telemetry/sink-state";

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Starts the embedded database unless `DATABASE_URL` is set. Then sets `DATABASE_URL` and `AUTH_SECRET` for this process and
 * its children.
 *
 * @returns `keep` and `stop`, which do nothing for a database of the operator's.
 * @throws EnvError if `DATABASE_URL` is set and `AUTH_SECRET` is not.
 */
export async function prepareDatabase(): Promise<Pick<EmbeddedDatabase, "keep" | "stop">> {
  const { DATABASE_URL, AUTH_SECRET, DATA_DIR } = env();
  if (DATABASE_URL) {
    requiredEnv("AUTH_SECRET");
    return { keep: () => new Promise(() => {}), stop: async () => {} };
  }
  const database = await startEmbedded(DATA_DIR);
  const secret =
    AUTH_SECRET ?? (await readOrMake(join(DATA_DIR, "auth.secret"), () => randomBytes(32).toString("base64url")));
  setEnv({ DATABASE_URL: database.url, AUTH_SECRET: secret });
  return database;
}

/** Brings the database to this version. */
export async function prepareSchema(): Promise<string[]> {
  const url = directDatabaseUrl();
  return migrate(url, () => installQueues(url));
}

type Role = "all" | "dev" | "web" | "worker" | "migrate";

/**
 * Starts the processes of a role.
 *
 * @param signal aborts the start.
 * @returns what stops them, and a promise that rejects when one can't be kept running
 */
export async function startProcesses(
  role: Exclude<Role, "migrate">,
  signal?: AbortSignal,
): Promise<ReturnType<typeof supervise>> {
  if (role === "all" || role === "web") await buildIfNeeded(say, signal);
  if (role === "dev") await buildClientIfNeeded();
  const web = { name: "web", words: ["lib/server/web.ts", ...(role === "dev" ? ["--dev"] : [])] };
  const worker = { name: "worker", words: ["--conditions=react-server", "lib/server/worker.ts"] };
  const wanted = { all: [worker, web], dev: [worker, web], web: [web], worker: [worker] }[role];
  return supervise(wanted, { NODE_ENV: role === "dev" ? "development" : "production" }, signal);
}

async function main(role: Role): Promise<void> {
  // Signals are handled from here on, so that one during the start still stops the database.
  const stopRequest = listenForStop();
  const database = await prepareDatabase();
  try {
    if (role !== "web" && role !== "worker") {
      const applied = await prepareSchema();
      if (applied.length > 0) say(`Applied ${applied.length} migration${applied.length === 1 ? "" : "s"}.`);
      if (role === "migrate") return say("The database is up to date.");
    }
    await enableSinks();
    await serve(role, database, stopRequest, async () => {
      if (role !== "worker") await printGreeting();
      return true;
    });
  } finally {
    await closeDatabase();
    await database.stop();
  }
}

/**
 * Runs a role's processes until a stop is requested, and keeps the database running. A request during the start aborts it.
 *
 * @param onceReady runs when they are ready. @returns whether they are to continue
 * @throws if the start fails, or a process or the database can't be kept running.
 */
export async function serve(
  role: Exclude<Role, "migrate">,
  database: Pick<EmbeddedDatabase, "keep">,
  stopRequest: AbortSignal,
  onceReady: () => Promise<boolean>,
): Promise<void> {
  const kept = database.keep((line) => process.stderr.write(`${line}\n`));
  kept.catch(() => {}); // reported below, once the processes run
  const processes = await startProcesses(role, stopRequest).catch((error) => {
    if (!stopRequest.aborted) throw error;
  });
  if (!processes) return;
  try {
    const end = Promise.race([processes.lost, kept, waitForAbort(stopRequest)]);
    end.catch(() => {}); // reported by whichever await below is reached
    const continues = await Promise.race([onceReady(), end.then(() => true)]);
    if (!continues) return;
    await end;
    say("Stopping…");
  } finally {
    await processes.stop();
  }
}

async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

async function printGreeting(): Promise<void> {
  const { BASE_URL } = env();
  const setup = await openSetup();
  say(`Spoor is running at ${BASE_URL}`);
  const warning = warningOf(BASE_URL);
  if (warning) say(warning);
  if (setup) say(`\nCreate the first account (this link works once):\n  ${setup}\n`);
  say("Stop it with Ctrl-C.");
}

/** Aborted by the first Ctrl-C or SIGTERM; a second one ends the process immediately. */
export function listenForStop(): AbortSignal {
  const request = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(130));
      request.abort();
    });
  }
  return request.signal;
}

/** Runs a command. An error meant for the operator is printed without its stack. */
export async function runCommand(command: () => Promise<void>): Promise<never> {
  try {
    await command();
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
    process.exit(1);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error) || error instanceof EnvError) return (error as Error).message;
  const refused = /^(28|3D)/.test(postgresCode(error) ?? ""); // authorization; no such database
  if (!isOutage(error) && !refused) return error.stack ?? error.message;
  const { host, pathname } = new URL(requiredEnv("DATABASE_URL"));
  return `The database ${pathname.slice(1)} at ${host} can't be used: ${error.message}\nIs it running, and is DATABASE_URL right?`;
}

if (import.meta.main) {
  const [role = "all"] = process.argv.slice(2);
  await runCommand(async () => {
    if (!["all", "dev", "web", "worker", "migrate"].includes(role)) {
      throw new EnvError(
        `Unknown role "${role}". Use dev, web, worker or migrate, or none for web and worker together.`,
      );
    }
    await main(role as Role);
  });
}
