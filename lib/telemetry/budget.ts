// Anybody who reaches the server can send reports, so their rows need a budget.
import "server-only";
import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import { getNetwork } from "#lib/http/address";
import { getWaitSeconds, overLimit } from "#lib/http/rate-limit";
import type { ReportSender } from "#lib/telemetry/roll-up";
import type { Submission } from "#lib/telemetry/schema";

const { telemetry } = limits;
const seconds = 86_400;

type TelemetryBudget = { name: string; key: string; window: { points: number; seconds: number } };

/** Without a token, one budget per network and one for all such reports. */
function listBudgets(sender: ReportSender, address: string): TelemetryBudget[] {
  const budget = (name: string, key: string, points: number) => ({ name, key, window: { points, seconds } });
  if (sender) return [budget("telemetry-user-bytes", sender.userId, telemetry.dailyBytesPerUser)];
  const { TELEMETRY_ANONYMOUS_NETWORK_BYTES: ofNetwork, TELEMETRY_ANONYMOUS_TOTAL_BYTES: ofAll } = env();
  return [
    budget("telemetry-network-bytes", getNetwork(address), ofNetwork),
    budget("telemetry-all-bytes", "all", ofAll),
  ];
}

/** Called before the body is read. */
export async function requireBudget(sender: ReportSender, address: string): Promise<void> {
  const waits = await Promise.all(
    listBudgets(sender, address).map(({ name, key, window }) => getWaitSeconds(name, key, window)),
  );
  const wait = Math.max(...waits.map((one) => one ?? 0));
  if (wait > 0) throw usedUp(wait);
}

/**
 * A report that is then not stored stays counted.
 * @param bytes of the body
 */
export async function spendBudget(
  submission: Submission,
  bytes: number,
  sender: ReportSender,
  address: string,
): Promise<void> {
  const cost = countCost(submission, bytes);
  for (const { name, key, window } of listBudgets(sender, address)) {
    const wait = await overLimit(name, key, window, cost);
    if (wait) throw usedUp(wait);
  }
  await limitNewDevices(submission.deviceId, sender, address);
}

/** tests/jobs/telemetry-budget.test.ts measures them: rows and index entries of small items are many times their size. */
const rowBytes = { report: 1300, diagnostic: 250, event: 150, adapter: 600 };
const textFactor = 1.4;

/** An upper bound of the bytes in the database. */
export function countCost({ diagnostics, events }: Submission, bytes: number): number {
  const adapters = new Set(diagnostics.map(({ adapter }) => adapter)).size;
  const rows = rowBytes.report + diagnostics.length * rowBytes.diagnostic + events.length * rowBytes.event;
  return Math.ceil(textFactor * bytes) + rows + adapters * rowBytes.adapter;
}

async function limitNewDevices(deviceId: string, sender: ReportSender, address: string): Promise<void> {
  const userId = sender?.userId ?? null;
  const known = await prisma().telemetryDevice.findFirst({ where: { userId, deviceId }, select: { id: true } });
  if (known) return;
  const window = { points: telemetry.newDevicesPerDay, seconds };
  const wait = await overLimit("telemetry-new-devices", userId ?? getNetwork(address), window);
  if (!wait) return;
  const detail = "Too many new devices reported today. Reports of known devices are still accepted.";
  throw new SpoorError("rate_limited", detail, { retryAfterSeconds: wait });
}

const usedUp = (retryAfterSeconds: number) =>
  new SpoorError("rate_limited", "Today's budget for telemetry is used up.", { retryAfterSeconds });
