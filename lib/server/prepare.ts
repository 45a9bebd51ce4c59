// What comes before the processes run: the environment, the database, its schema. The launcher starts it as a process of its
// own, because it needs 100 MiB of code, and the launcher, which only watches, should not.
import "server-only";
import { env, requiredEnv } from "#lib/env";
import { EnvError } from "#lib/errors";
import { runCommand, say } from "#lib/server/command";
import { prepareSchema, prepareSecret, withDatabase } from "#lib/server/database";
import { keptCluster } from "#lib/server/outputs";
import type { Step, Word } from "#lib/server/start";

const tell = (step: Step): void => void process.send?.(step);

/** What is needed only once the database answers; it is loaded while that is made. */
const loadLater = () => import("#lib/server/prepare-later");

/** Ends the wait for a database that recovers. Everything else that is begun is done. */
const stopping = new AbortController();
const takenOver = Promise.withResolvers<void>();
process.on("message", (word: Word) => (word === "stop" ? stopping.abort() : takenOver.resolve()));
process.once("disconnect", () => {
  stopping.abort();
  takenOver.resolve();
});

// Ctrl-C reaches every process of the terminal. The launcher says what is to end, and stops what was started.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

await runCommand(async () => {
  const [role] = process.argv.slice(2);
  const migrates = role !== "web" && role !== "worker";
  const dataDir = env().DATABASE_URL ? undefined : env().DATA_DIR;
  const prepare = async () => {
    const { checkPrices, enableSinks, greet, refuseNewer } = await loadLater();
    await refuseNewer();
    checkPrices(); // a wrong PRICES_FILE stops the start
    const DATABASE_URL = requiredEnv("DATABASE_URL");
    if (migrates) {
      const applied = await prepareSchema();
      if (applied.length > 0) say(`Applied ${applied.length} migration${applied.length === 1 ? "" : "s"}.`);
      if (role === "migrate") return say("The database is up to date.");
    }
    if (!migrates) await enableSinks(); // what can't reach the database starts nothing
    tell({ schema: { DATABASE_URL } });
    if (migrates) await enableSinks();
    tell({ url: DATABASE_URL, greeting: role === "worker" ? [] : await greet(), dataDir });
    if (dataDir) await takenOver.promise; // keeps the database until the launcher uses it, or is gone
  };
  tell({ variables: { AUTH_SECRET: await prepareSecret() } });
  const meanwhile = () => {
    Promise.all([loadLater(), import("#lib/db/migrate"), import("#lib/queue/queues")]).catch(() => {}); // told where they are used
  };
  try {
    await withDatabase(prepare, { kept: migrates ? keptCluster : undefined, meanwhile, signal: stopping.signal });
  } catch (error) {
    if (error !== stopping.signal.reason) throw error;
    if (role === "migrate") throw new EnvError("Stopped before the database was brought to this version.");
  }
});
