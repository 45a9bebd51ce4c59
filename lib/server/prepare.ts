// What comes before the processes run: the environment, the database, its schema. The launcher starts it as a process of its
// own, because it needs 100 MiB of code, and the launcher, which only watches, should not.
import "server-only";
import { once } from "node:events";
import { env, requiredEnv } from "#lib/env";
import { runCommand, say } from "#lib/server/command";
import { prepareSchema, prepareSecret, withDatabase } from "#lib/server/database";
import type { Step } from "#lib/server/start";

const tell = (step: Step): void => void process.send?.(step);

/** What is needed only once the database answers; it is loaded while that is made. */
const loadLater = () => import("#lib/server/prepare-later");

// The launcher waits for the end, and then stops what was started.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

await runCommand(async () => {
  const [role] = process.argv.slice(2);
  const dataDir = env().DATABASE_URL ? undefined : env().DATA_DIR;
  const prepare = async () => {
    const { checkPrices, enableSinks, greet } = await loadLater();
    checkPrices(); // a wrong PRICES_FILE stops the start
    const DATABASE_URL = requiredEnv("DATABASE_URL");
    const migrates = role !== "web" && role !== "worker";
    if (migrates) {
      const applied = await prepareSchema();
      if (applied.length > 0) say(`Applied ${applied.length} migration${applied.length === 1 ? "" : "s"}.`);
      if (role === "migrate") return say("The database is up to date.");
    }
    if (!migrates) await enableSinks(); // what can't reach the database starts nothing
    tell({ schema: { DATABASE_URL } });
    if (migrates) await enableSinks();
    tell({ url: DATABASE_URL, greeting: role === "worker" ? [] : await greet(), dataDir });
    // Keeps the database until the launcher uses it, or is gone.
    if (dataDir) await Promise.race([once(process, "message"), once(process, "disconnect")]);
  };
  tell({ variables: { AUTH_SECRET: await prepareSecret() } });
  await withDatabase(prepare, () => {
    Promise.all([loadLater(), import("#lib/db/migrate"), import("#lib/queue/queues")]).catch(() => {}); // told where they are used
  });
});
