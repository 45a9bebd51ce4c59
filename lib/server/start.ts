// The launcher: `npm start` and its parts. It prints for people; the processes it starts log JSON lines.
import "server-only";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { openSetup } from "#lib/auth/setup";
import { closeDatabase } from "#lib/db/client";
import { type EmbeddedDatabase, startEmbedded } from "#lib/db/embedded";
import { MigrationError, migrate } from "#lib/db/migrate";
import { readOrMake } from "#lib/db/secrets";
import { EnvError, env, requiredEnv, setEnv } from "#lib/env";
import { installQueues } from "#lib/queue/queues";
import { buildClientIfNeeded, buildIfNeeded } from "#lib/server/build";
import { supervise } from "#lib/server/processes";
import { enableSinks } from "#lib/telemetry/sink-state";

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Finds or starts the database, and sets `DATABASE_URL` and `AUTH_SECRET` for this process and its children where the
 * embedded one fills them in.
 *
 * @returns what an embedded one has, and nothing to do for one of the operator's own.
 * @throws EnvError where `DATABASE_URL` is set and `AUTH_SECRET` is not.
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
  const url = requiredEnv("DATABASE_URL");
  return migrate(url, () => installQueues(url));
}

type Role = "all" | "dev" | "web" | "worker" | "migrate";

/**
 * Starts the processes of a role.
 *
 * @param signal ends the start.
 * @returns what stops them, and a promise that rejects when one is lost for good
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
  // From here on a signal is heard, so that one in the middle of a start still stops the database behind it.
  const asked = askedToStop();
  const database = await prepareDatabase();
  try {
    if (role !== "web" && role !== "worker") {
      const applied = await prepareSchema();
      if (applied.length > 0) say(`Applied ${applied.length} migration${applied.length === 1 ? "" : "s"}.`);
      if (role === "migrate") return say("The database is up to date.");
    }
    await enableSinks();
    await serve(role, database, asked, async () => {
      if (role !== "worker") await greet();
      return true;
    });
  } finally {
    await closeDatabase();
    await database.stop();
  }
}

/**
 * Runs a role's processes until a signal comes, and keeps the database running beneath them. A signal in the middle of the
 * start ends it there.
 *
 * @param onceReady what to do when they run. @returns whether they are to go on
 * @throws where the start fails, or a process or the database can't be kept running.
 */
export async function serve(
  role: Exclude<Role, "migrate">,
  database: Pick<EmbeddedDatabase, "keep">,
  asked: AbortSignal,
  onceReady: () => Promise<boolean>,
): Promise<void> {
  const kept = database.keep((line) => process.stderr.write(`${line}\n`));
  kept.catch(() => {}); // told below, once the processes run
  const processes = await startProcesses(role, asked).catch((error) => {
    if (!asked.aborted) throw error;
  });
  if (!processes) return;
  try {
    const end = Promise.race([processes.lost, kept, aborted(asked)]);
    end.catch(() => {}); // told by the next or by the last
    const goesOn = await Promise.race([onceReady(), end.then(() => true)]);
    if (!goesOn) return;
    await end;
    say("Stopping…");
  } finally {
    await processes.stop();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

async function greet(): Promise<void> {
  const { BASE_URL } = env();
  const setup = await openSetup();
  say(`Spoor runs at ${BASE_URL}`);
  if (setup) say(`\nMake the first account (this link works once):\n  ${setup}\n`);
  say("Stop it with Ctrl-C.");
}

/** Is aborted by the first Ctrl-C or SIGTERM; a second one ends the process at once. */
export function askedToStop(): AbortSignal {
  const asked = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(130));
      asked.abort();
    });
  }
  return asked.signal;
}

/** Runs a command of the launcher's; what goes wrong is told in a line, not in a stack. */
export async function runCommand(command: () => Promise<void>): Promise<never> {
  try {
    await command();
    process.exit(0);
  } catch (error) {
    const expected = error instanceof EnvError || error instanceof MigrationError || !(error instanceof Error);
    process.stderr.write(`${expected ? (error as Error).message : (error.stack ?? error.message)}\n`);
    process.exit(1);
  }
}

if (import.meta.main) {
  const [role = "all"] = process.argv.slice(2);
  await runCommand(async () => {
    if (!["all", "dev", "web", "worker", "migrate"].includes(role)) {
      throw new EnvError(`There is no "${role}". Use one of: dev, web, worker, migrate; or none for all of it.`);
    }
    await main(role as Role);
  });
}
