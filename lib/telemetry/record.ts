import "server-only";
import type { z } from "zod";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import { getNetwork } from "#lib/http/address";
import { overLimit } from "#lib/http/rate-limit";
import { putIntoOutbox } from "#lib/telemetry/forward";
import { type ReportSender, rollUp } from "#lib/telemetry/roll-up";
import type { Submission, telemetryResponse } from "#lib/telemetry/schema";
import { insertReport } from "#lib/telemetry/sql";

const { telemetry } = limits;

/** Many clients count in the rows of a day; Prisma's default of 5 s is too short. */
const transactionTimeoutMs = 30_000;

/**
 * The report is on disk when this returns.
 * @returns `accepted` diagnostics, and `forwarded` if the sink answered 2xx within 1.5 s
 */
export async function recordTelemetry(
  submission: Submission,
  sender: ReportSender,
): Promise<z.input<typeof telemetryResponse>> {
  const forwardNow = await prisma().$transaction(
    async (tx) => {
      const reportId = await insertReport(tx, submission, sender?.userId ?? null);
      const forward = await putIntoOutbox(tx, reportId);
      // Last, since all reports of a day lock the same rows.
      await rollUp(tx, submission, sender);
      return forward;
    },
    { timeout: transactionTimeoutMs },
  );
  return { ok: true, accepted: submission.diagnostics.length, forwarded: await forwardNow() };
}

export async function purgeReports(): Promise<number> {
  const limit = daysAgo(telemetry.retentionDays);
  const { count } = await prisma().telemetryReport.deleteMany({ where: { receivedAt: { lt: limit } } });
  await prisma().diagnosticMachine.deleteMany({ where: { seenAt: { lt: limit } } });
  await prisma().telemetryDevice.deleteMany({ where: { seenAt: { lt: limit } } });
  await prisma().diagnosticDay.deleteMany({ where: { day: { lt: daysAgo(telemetry.countsRetentionDays) } } });
  return count;
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

/** Called before the body is read. */
export async function limitAddress(address: string): Promise<void> {
  throwIfLimited(
    await overLimit("telemetry-ip", getNetwork(address), { points: telemetry.perMinutePerIp, seconds: 60 }),
  );
}

/** Strangers can send a device's id, so a user's devices have a separate limit. */
export async function limitDevice(deviceId: string, sender: ReportSender): Promise<void> {
  const key = sender ? `${sender.userId} ${deviceId}` : deviceId;
  throwIfLimited(await overLimit("telemetry-device", key, { points: telemetry.perMinutePerDevice, seconds: 60 }));
}

function throwIfLimited(retryAfterSeconds: number | undefined): void {
  if (retryAfterSeconds === undefined) return;
  throw new SpoorError("rate_limited", undefined, { retryAfterSeconds });
}
