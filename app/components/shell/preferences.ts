import "server-only";
import { cookies } from "next/headers";
import { cache } from "react";
import { z } from "zod";

export const themes = ["system", "light", "dark"] as const;
export const switches = ["on", "off"] as const;

const theme = { cookie: "spoor_theme", choice: z.enum(themes).catch("system") };
const keys = { cookie: "spoor_keys", choice: z.enum(switches).catch("on") };

export const preferences = { theme, keys } as const;

/** A cookie, so that the first paint has the theme. */
export async function readTheme(): Promise<(typeof themes)[number]> {
  return theme.choice.parse((await cookies()).get(theme.cookie)?.value);
}

/** Dictation and accidental key presses need a switch (WCAG 2.2, 2.1.4). */
export async function readKeys(): Promise<(typeof switches)[number]> {
  return keys.choice.parse((await cookies()).get(keys.cookie)?.value);
}

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
