import "server-only";
import { log } from "#lib/core/log";
import { prisma } from "#lib/db/client";
import { isUnmigrated } from "#lib/observability/readiness";
import { pingDatabase } from "#lib/observability/sql";

export type Step = ReturnType<typeof makeSteps>["step"];

/** Runs every step even if one fails; `end` throws if any failed. */
export function makeSteps() {
  const failed: { name: string; cause: unknown }[] = [];
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (cause) {
      await pingDatabase(); // without a database, every other step would fail after a timeout
      if (await isUnmigrated(cause)) throw cause;
      log.warn({ err: cause, step: name }, "a background step failed");
      failed.push({ name, cause });
      return undefined;
    }
  };
  const end = () => {
    const [first] = failed;
    if (first) throw new Error(`steps failed: ${failed.map(({ name }) => name).join(", ")}`, { cause: first.cause });
  };
  return { step, end };
}

const hourMs = 3_600_000;
/** Maximum difference between clocks; a mark further in the future is ignored. */
const differenceMs = 300_000;

export function isWithin(at: Date, ms: number): boolean {
  const ago = Date.now() - at.getTime();
  return ago < ms && ago > -differenceMs;
}

/** Returns true to one caller per hour, over all processes. */
export async function takeHour(key: string): Promise<boolean> {
  const now = Date.now();
  const lately = { gte: new Date(now - hourMs), lte: new Date(now + differenceMs) };
  const made = await prisma().serverSetting.createMany({ data: [{ key, value: "" }], skipDuplicates: true });
  const taken = await prisma().serverSetting.updateMany({
    where: { key, NOT: { updatedAt: lately } },
    data: { updatedAt: new Date() },
  });
  return made.count + taken.count > 0;
}
