"use server";
import { cookies, headers } from "next/headers";
import { redirect } from "next/navigation";
import { auth } from "#lib/auth/auth";
import { env } from "#lib/core/env";
import { requireForm, requireOwnOrigin } from "../components/forms/form-guard";
import { preferences } from "../components/shell/preferences";

export async function signOutAction(): Promise<void> {
  const requestHeaders = await headers();
  await requireOwnOrigin();
  await auth().api.signOut({ headers: requestHeaders });
  redirect("/sign-in");
}

export async function setPreferencesAction(form: FormData): Promise<void> {
  await requireOwnOrigin();
  const chosen = requireForm(form);
  const secure = env().BASE_URL.startsWith("https:");
  const options = { path: "/", maxAge: 365 * 86_400, sameSite: "lax", httpOnly: true, secure } as const;
  const store = await cookies();
  for (const [name, { cookie, choice }] of Object.entries(preferences)) {
    if (chosen.has(name)) store.set(cookie, choice.parse(chosen.get(name)), options);
  }
}
