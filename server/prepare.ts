// Runs as a separate process, because its 100 MiB of code would stay in the launcher.
import "server-only";
import { openSetup } from "#lib/auth/setup";
import { env } from "#lib/core/env";
import { refuseNewer } from "#lib/db/sql/floor";
import { isUnmigrated } from "#lib/observability/readiness";
import { ownPrices } from "#lib/prices/own";
import { enableSinks } from "#lib/telemetry/sink";
import { runCommand, say } from "#server/commands/command";
import { prepareSchema, withDatabase } from "#server/commands/database";
import { warnAboutHttp } from "#server/http/listen";

/** A new web process may start before the migration, and must not end. */
async function beforeMigrate<T>(step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step();
  } catch (error) {
    if (await isUnmigrated(error)) return undefined;
    throw error;
  }
}

async function greet(): Promise<string[]> {
  const { BASE_URL } = env();
  const setup = await beforeMigrate(openSetup);
  const warning = warnAboutHttp(BASE_URL);
  return [
    `Spoor is running at ${BASE_URL}`,
    ...(warning ? [warning] : []),
    ...(setup ? [`\nCreate the first account (this link works once):\n  ${setup}\n`] : []),
    "Stop it with Ctrl-C.",
  ];
}

// A migration that has begun is finished.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

const [role] = process.argv.slice(2);
await runCommand(() =>
  withDatabase(async () => {
    await refuseNewer();
    ownPrices(); // a wrong PRICES_FILE stops the start
    if (role !== "web" && role !== "worker") {
      const applied = await prepareSchema();
      if (applied.length > 0) say(`Applied ${applied.length} migration${applied.length === 1 ? "" : "s"}.`);
      if (role === "migrate") return say("The database is up to date.");
    }
    await beforeMigrate(enableSinks); // ends pauses of the previous run
    process.send?.(role === "worker" ? [] : await greet());
  }),
);
