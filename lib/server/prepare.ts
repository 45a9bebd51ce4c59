// What comes before the processes run: the environment, the database, its schema. The launcher starts it as a process of its
// own, because it needs 100 MiB of code, and the launcher, which only watches, should not.
import "server-only";
import { once } from "node:events";
import { openSetup } from "#lib/auth/setup";
import { env, requiredEnv } from "#lib/env";
import { isUnmigrated } from "#lib/observability/readiness";
import { ownPrices } from "#lib/prices/own";
import { runCommand, say } from "#lib/server/command";
import { prepareSchema, withDatabase } from "#lib/server/database";
import { warningOf } from "#lib/server/listen";
import type { Prepared, Reached } from "#lib/server/start";
import { enableSinks } from "#lib/telemetry/sink-state";

async function greet(): Promise<string[]> {
  const { BASE_URL } = env();
  const setup = await beforeMigrate(openSetup);
  const warning = warningOf(BASE_URL);
  return [
    `Spoor is running at ${BASE_URL}`,
    ...(warning ? [warning] : []),
    ...(setup ? [`\nCreate the first account (this link works once):\n  ${setup}\n`] : []),
    "Stop it with Ctrl-C.",
  ];
}

/** In an upgrade a new web starts before the schema is its own: it is not ready until then, and must not end. */
async function beforeMigrate<T>(step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step();
  } catch (error) {
    if (await isUnmigrated(error)) return undefined;
    throw error;
  }
}

/** Tells the launcher, and keeps the database until the launcher uses it, or is gone. */
async function handOver(prepared: Prepared): Promise<void> {
  process.send?.(prepared);
  if (prepared.dataDir) await Promise.race([once(process, "message"), once(process, "disconnect")]);
}

// The launcher waits for the end, and then stops what was started.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

await runCommand(async () => {
  const [role] = process.argv.slice(2);
  ownPrices(); // a wrong PRICES_FILE stops the start
  const dataDir = env().DATABASE_URL ? undefined : env().DATA_DIR;
  await withDatabase(async () => {
    const variables = { DATABASE_URL: requiredEnv("DATABASE_URL"), AUTH_SECRET: requiredEnv("AUTH_SECRET") };
    process.send?.({ variables } satisfies Reached);
    if (role !== "web" && role !== "worker") {
      const applied = await prepareSchema();
      if (applied.length > 0) say(`Applied ${applied.length} migration${applied.length === 1 ? "" : "s"}.`);
      if (role === "migrate") return say("The database is up to date.");
    }
    await beforeMigrate(enableSinks);
    await handOver({ url: variables.DATABASE_URL, greeting: role === "worker" ? [] : await greet(), dataDir });
  });
});
