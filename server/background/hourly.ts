import "server-only";
import { prisma } from "#lib/db/client";

const hourMs = 3_600_000;
/** Clocks may differ by this; a later mark was made while a clock was ahead. */
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
