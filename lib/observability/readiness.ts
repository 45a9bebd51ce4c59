import "server-only";
import { pool } from "#lib/db/client";
import { pendingMigrations } from "#lib/db/migrate";
import { workerSeen } from "#lib/observability/heartbeat";

type Check = { ok: boolean; detail?: string };
type Readiness = { ok: boolean; checks: { database: Check; migrations: Check; worker: Check } };

/** What `/api/ready` tells: whether the database answers, is at this version, and a worker was seen in the last 60 s. */
export async function checkReadiness(): Promise<Readiness> {
  const database = await check(async () => {
    await pool().query("select 1");
    return undefined;
  });
  const unknown: Check = { ok: false, detail: "unknown while the database does not answer" };
  const [migrations, worker] = database.ok
    ? await Promise.all([check(migrationFault), check(workerFault)])
    : [unknown, unknown];
  const checks = { database, migrations, worker };
  return { ok: Object.values(checks).every(({ ok }) => ok), checks };
}

/** Runs a probe that returns what is wrong; the cause of one that throws is for the log, not for a public answer. */
async function check(probe: () => Promise<string | undefined>): Promise<Check> {
  try {
    const fault = await probe();
    return fault === undefined ? { ok: true } : { ok: false, detail: fault };
  } catch {
    return { ok: false, detail: "does not answer" };
  }
}

async function migrationFault(): Promise<string | undefined> {
  const pending = await pendingMigrations(pool());
  return pending.length === 0 ? undefined : `${pending.length} to apply: npm run migrate`;
}

async function workerFault(): Promise<string | undefined> {
  return (await workerSeen()) ? undefined : "none seen in the last 60 seconds: npm run worker";
}
