"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { auth } from "#lib/auth/auth";
import { deleteAccount } from "#lib/auth/deletion";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import type { FormState } from "../../../components/forms/form";
import { refuseForeignOrigin, text } from "../../../components/forms/form-guard";
import { listProofs, refuseUnproved } from "../proof";

export async function deleteAccountAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/settings/delete");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const refusal = (await refuseOtherAddress(user, form)) ?? (await refuseUnproved(user, form));
  if (refusal) return refusal;
  await deleteAccount(user.id);
  await auth().api.signOut({ headers: await headers() }); // the sign-in is already deleted; this clears its cookie
  redirect("/sign-in?deleted=1");
}

/** Without a password, typing the address confirms the deletion. */
async function refuseOtherAddress(user: SignedInUser, form: FormData): Promise<FormState | undefined> {
  if ((await listProofs(user)).includes("password")) return undefined;
  const same = text(form, "email").trim().toLowerCase() === user.email.toLowerCase();
  return same ? undefined : { errors: { email: "This is not the address of your account." } };
}
