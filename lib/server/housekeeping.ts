import "server-only";
import { purgeGrants } from "#lib/auth/oauth/grants";
import { purgeSignIns } from "#lib/auth/sign-ins";
import { purgeLogins } from "#lib/device/login";
import { purgeLimits } from "#lib/http/rate-limit";
import { sweepOrphans } from "#lib/ingest/raw/removal";
import { purgeIdempotencyKeys, purgeUploads } from "#lib/ingest/raw/retention";
import { purgeFacets } from "#lib/ledger/sql/facets";
import { log } from "#lib/log";
import { purgeHeartbeats } from "#lib/observability/heartbeat";
import { readTime } from "#lib/observability/sql";
import { unlinkDeleted } from "#lib/pictures/sql";
import { settleProjects } from "#lib/projects/settle";
import { takeHour } from "#lib/server/hourly";
import { makeSteps, type Step } from "#lib/server/steps";
import { purgeReports } from "#lib/telemetry/record";
import { purgeShares } from "#lib/traces/shares";
import { forgetInJobs } from "#lib/traces/sql/deletion";

/** How long projects are settled; a worker does it all the time. */
const settleSeconds = 10;

/** How much this process's clock and the database's may differ where something is deleted for its age. */
const maxDifferenceMs = 30 * 60_000;

/** Whether two clocks agree that it is as late as this process thinks. One that is ahead by days would delete what is to be kept. */
async function isTimeRight(): Promise<boolean> {
  const differenceMs = Date.now() - (await readTime()).getTime();
  if (Math.abs(differenceMs) <= maxDifferenceMs) return true;
  const minutes = Math.round(differenceMs / 60_000);
  log.warn({ minutes }, "this process's clock differs from the database's; nothing is deleted for its age");
  return false;
}

/**
 * Deletes what is past its retention. A worker does it once an hour. A step that fails stops none of the others.
 *
 * @throws where the database is away or not migrated, at once; and at the end, where steps failed
 */
export async function housekeep(): Promise<void> {
  const { step, end } = makeSteps();
  if (await isTimeRight()) await deleteAged(step);
  await step("settleProjects", () => settleProjects(settleSeconds));
  await step("purgeFacets", purgeFacets);
  await step("forgetInJobs", forgetInJobs);
  await step("unlinkDeleted", unlinkDeleted);
  await step("purgeLimits", purgeLimits);
  await step("purgeHeartbeats", purgeHeartbeats);
  end();
}

async function deleteAged(step: Step): Promise<void> {
  const uploads = await step("purgeUploads", purgeUploads);
  await sweepOrphans().catch((error) => log.warn({ err: error }, "the store of uploads could not be swept"));
  const idempotencyKeys = await step("purgeIdempotencyKeys", purgeIdempotencyKeys);
  const logins = await step("purgeLogins", purgeLogins);
  const reports = await step("purgeReports", purgeReports);
  await step("purgeSignIns", purgeSignIns);
  await step("purgeGrants", purgeGrants);
  await step("purgeShares", purgeShares);
  log.info({ uploads, idempotencyKeys, logins, reports }, "housekeeping deleted what is past its retention");
}

/** Housekeeping for hosts without a worker: of all calls within an hour, one does it. */
export async function housekeepHourly(): Promise<void> {
  if (await takeHour("housekeeping")) await housekeep();
}
