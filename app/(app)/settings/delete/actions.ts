"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { deleteAccount } from "#lib/auth/accounts";
import { auth } from "#lib/auth/auth";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import { passwordError, refuseForeignOrigin, text } from "../../../components/form-guard";
import type { FormState } from "../../../components/form-state";
import { waysIn } from "../ways-in";

/** Deletes the account and everything in it, after the person has repeated the password or the address. */
export async function deleteAccountAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/settings/delete");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const errors = await verify(user, form);
  if (errors) return { errors };
  await deleteAccount(user.id);
  await auth().api.signOut({ headers: await headers() }); // the sign-in is deleted already; this clears its cookie
  redirect("/sign-in?deleted=1");
}

async function verify(user: SignedInUser, form: FormData): Promise<Record<string, string> | undefined> {
  if ((await waysIn()).includes("credential")) {
    const wrong = await passwordError(user.id, text(form, "password"));
    return wrong ? { password: wrong } : undefined;
  }
  const same = text(form, "email").trim().toLowerCase() === user.email.toLowerCase();
  return same ? undefined : { email: "This is not the address of your account." };
}
