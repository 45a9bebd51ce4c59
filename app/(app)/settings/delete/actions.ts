"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { deleteAccount } from "#lib/auth/accounts";
import { auth } from "#lib/auth/auth";
import { requireUser, type SessionUser } from "#lib/auth/session";
import { passwordFault, refuseStrangers, text } from "../../../components/form-guard";
import type { FormState } from "../../../components/form-state";
import { waysIn } from "../ways-in";

/** Deletes the account and everything of it, once the person proved to be the one and to mean it. */
export async function deleteAccountAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/settings/delete");
  const error = await refuseStrangers();
  if (error) return { error };
  const errors = await doubts(user, form);
  if (errors) return { errors };
  await deleteAccount(user.id);
  await auth().api.signOut({ headers: await headers() }); // the session is gone; this takes its cookie away
  redirect("/sign-in?deleted=1");
}

async function doubts(user: SessionUser, form: FormData): Promise<Record<string, string> | undefined> {
  if ((await waysIn()).includes("credential")) {
    const fault = await passwordFault(user.id, text(form, "password"));
    return fault ? { password: fault } : undefined;
  }
  const same = text(form, "email").trim().toLowerCase() === user.email.toLowerCase();
  return same ? undefined : { email: "This is not the address of your account." };
}
