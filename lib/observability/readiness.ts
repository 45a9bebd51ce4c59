import "server-only";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { isSchemaError } from "#lib/core/errors";
import { operatorCommand } from "#lib/core/variables/operator-command";
import { pool } from "#lib/db/client";
import { pendingMigrations } from "#lib/db/migrations";
import { findNewer } from "#lib/db/sql/floor";
import { proxyNote } from "#lib/http/address";
import { hasWorker } from "#lib/observability/heartbeat";
import { pingDatabase } from "#lib/observability/sql";
import { hasQueues } from "#lib/queue/sql";
import { pingStore, usesStore } from "#lib/storage/s3";

type Check = { ok: boolean; detail?: string };
type Checks = { database: Check; migrations: Check; worker: Check; uploadStore?: Check };
type Readiness = { ok: boolean; checks: Checks; notes?: string[] };

/**
 * Answers `/api/ready`: the database answers and is up to date, a worker was seen in the last 60 s, and the store
 * answers. Notes fail nothing.
 */
export async function checkReadiness(): Promise<Readiness> {
  const database = await check(async () => {
    await pingDatabase();
    return undefined;
  });
  const unknown: Check = { ok: false, detail: "unknown while the database does not answer" };
  const [migrations, worker] = database.ok
    ? await Promise.all([check(findMigrationFault), check(findWorkerFault)])
    : [unknown, unknown];
  const checks = { database, migrations, worker, ...(usesStore() && { uploadStore: await checkStore() }) };
  const note = proxyNote();
  return { ok: Object.values(checks).every(({ ok }) => ok), checks, ...(note && { notes: [note] }) };
}

const store = oncePerProcess("check of the store", (): { last?: { at: number; result: Promise<Check> } } => ({}));
/** Anybody may ask, and a call of the store may cost money, so its answer is cached. */
const storeCheckMs = 5000;

function checkStore(): Promise<Check> {
  const { last } = store;
  if (last && performance.now() - last.at < storeCheckMs) return last.result;
  const result = check(async () => {
    await pingStore();
    return undefined;
  });
  store.last = { at: performance.now(), result };
  return result;
}

/** Runs a probe that returns a problem. An exception's cause stays out of the public answer. */
async function check(probe: () => Promise<string | undefined>): Promise<Check> {
  try {
    const fault = await probe();
    return fault === undefined ? { ok: true } : { ok: false, detail: fault };
  } catch {
    return { ok: false, detail: "does not answer" };
  }
}

async function findMigrationFault(): Promise<string | undefined> {
  try {
    const newer = await findNewer();
    if (newer) return newer;
    const pending = await pendingMigrations(pool());
    if (pending.length > 0) return `${pending.length} pending: ${operatorCommand("migrate")}`;
    return (await hasQueues()) ? undefined : `queues are missing: ${operatorCommand("migrate")}`;
  } catch (error) {
    if (isSchemaError(error)) return `tables are missing: ${operatorCommand("migrate")}`;
    throw error;
  }
}

export async function canServe(): Promise<boolean> {
  return (await check(findMigrationFault)).ok;
}

export async function isUnmigrated(error: unknown): Promise<boolean> {
  return isSchemaError(error) && !(await canServe());
}

async function findWorkerFault(): Promise<string | undefined> {
  return (await hasWorker()) ? undefined : `none seen in the last 60 seconds: ${operatorCommand("worker")}`;
}
