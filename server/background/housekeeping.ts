import "server-only";
import { purgeGrants } from "#lib/auth/oauth/grants";
import { purgeSignIns } from "#lib/auth/sign-in/sign-ins";
import { log } from "#lib/core/log";
import { purgeLogins } from "#lib/device/login";
import { sweepOrphans } from "#lib/ingest/raw/removal";
import { purgeIdempotencyKeys, purgeUploads } from "#lib/ingest/raw/retention";
import { purgeFacets } from "#lib/ledger/sql/facets";
import { unlinkDeleted } from "#lib/messages/pictures/sql";
import { purgeHeartbeats } from "#lib/observability/heartbeat";
import { readTime } from "#lib/observability/sql";
import { deleteLeftOriginals } from "#lib/originals/sql";
import { settleProjects } from "#lib/projects/settle";
import { purgeShares } from "#lib/shares/shares";
import { purgeReports } from "#lib/telemetry/record";
import { forgetInJobs } from "#lib/traces/sql/deletion";
import { makeSteps, type Step, takeHour } from "#server/background/steps";

const settleSeconds = 10;

/** If the clocks differ by more, nothing is deleted because of its age. */
const maxDifferenceMs = 30 * 60_000;

/** A clock that is ahead by days would delete too much. */
async function isTimeRight(): Promise<boolean> {
  const differenceMs = Date.now() - (await readTime()).getTime();
  if (Math.abs(differenceMs) <= maxDifferenceMs) return true;
  const minutes = Math.round(differenceMs / 60_000);
  log.warn({ minutes }, "this process's clock differs from the database's; nothing is deleted for its age");
  return false;
}

/** @throws at once if the database is away or not migrated, and at the end if a step failed */
export async function housekeep(): Promise<void> {
  const { step, end } = makeSteps();
  if (await isTimeRight()) await deleteAged(step);
  await step("settleProjects", () => settleProjects(settleSeconds));
  await step("purgeFacets", purgeFacets);
  await step("forgetInJobs", forgetInJobs);
  await step("unlinkDeleted", unlinkDeleted);
  await step("deleteLeftOriginals", deleteLeftOriginals);
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

export async function housekeepHourly(): Promise<void> {
  if (await takeHour("housekeeping")) await housekeep();
}
