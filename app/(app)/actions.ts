"use server";
import { cookies, headers } from "next/headers";
import { redirect } from "next/navigation";
import { auth } from "#lib/auth/auth";
import { requireSameOrigin } from "#lib/auth/session";
import { env } from "#lib/env";
import { themeChoice, themeCookie } from "../components/theme";

/** Ends this browser's session. */
export async function signOutAction(): Promise<void> {
  const requestHeaders = await headers();
  requireSameOrigin(requestHeaders);
  await auth().api.signOut({ headers: requestHeaders });
  redirect("/sign-in");
}

/** Keeps the reader's theme for a year. */
export async function setThemeAction(form: FormData): Promise<void> {
  requireSameOrigin(await headers());
  const secure = env().BASE_URL.startsWith("https:");
  const options = { path: "/", maxAge: 365 * 86_400, sameSite: "lax", httpOnly: true, secure } as const;
  (await cookies()).set(themeCookie, themeChoice.parse(form.get("theme")), options);
}
