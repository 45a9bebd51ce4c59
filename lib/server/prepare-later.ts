// What `prepare.ts` does once the database answers, but for the schema.
import "server-only";
import { openSetup } from "#lib/auth/setup";
import { env } from "#lib/env";
import { isUnmigrated } from "#lib/observability/readiness";
import { ownPrices } from "#lib/prices/own";
import { warningOf } from "#lib/server/listen";
import * as sinks from "#lib/telemetry/sink-state";

export { refuseNewer } from "#lib/db/sql/floor";

/** @throws EnvError if the operator's prices can't be used */
export const checkPrices = (): void => void ownPrices();

/** Clears the pauses of the last run. */
export const enableSinks = (): Promise<unknown> => beforeMigrate(sinks.enableSinks);

/** The lines that the launcher prints when everything runs. */
export async function greet(): Promise<string[]> {
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
