import "server-only";
import { cookies } from "next/headers";
import { cache } from "react";

/** Reads a cookie; the default is UTC. */
export const readerZone = cache(async (): Promise<string> => {
  const zone = (await cookies()).get("spoor_tz")?.value;
  if (!zone) return "UTC";
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return "UTC"; // a cookie may contain any text
    throw error;
  }
});

export { addDays, startOfDay } from "#lib/usage/days";
