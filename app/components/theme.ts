import "server-only";
import { cookies } from "next/headers";
import { z } from "zod";

export const themeCookie = "spoor_theme";
export const themes = ["system", "light", "dark"] as const;
export const themeChoice = z.enum(themes).catch("system");

/** The reader's theme by cookie, so that the first paint has it already. */
export async function readTheme(): Promise<(typeof themes)[number]> {
  return themeChoice.parse((await cookies()).get(themeCookie)?.value);
}
