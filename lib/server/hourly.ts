import "server-only";
import { prisma } from "#lib/db/client";

const hourMs = 3_600_000;
/** What the clocks of several processes may differ by. A mark that is later was made while a clock was ahead. */
const differenceMs = 300_000;

/** Whether a point in time was less than a duration ago. */
export function isWithin(at: Date, ms: number): boolean {
  const ago = Date.now() - at.getTime();
  return ago < ms && ago > -differenceMs;
}

/** Of all calls of all processes within an hour, one gets `true`. @param key the row of the server's settings that records it */
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
