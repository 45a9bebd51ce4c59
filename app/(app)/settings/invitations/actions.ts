"use server";
import { revalidatePath } from "next/cache";
import { currentOrigin } from "#lib/auth/audit";
import { invite, revokeInvitation } from "#lib/auth/invitations";
import { idForm, inviteForm } from "#lib/auth/schema";
import { requireUser } from "#lib/auth/session";
import { faultsOf, refuseStrangers, text } from "../../../components/form-guard";
import type { FormState } from "../../../components/form-state";

const page = "/settings/invitations";
const ownersOnly = "Only the owner of this server invites.";

/** Makes an invitation. Its link is in this one answer and nowhere else. */
export async function inviteAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser(page);
  const values = { email: text(form, "email").trim() };
  const error = (await refuseStrangers()) ?? (user.role === "owner" ? undefined : ownersOnly);
  if (error) return { values, error };
  const parsed = inviteForm.safeParse(values);
  if (!parsed.success) return { values, errors: faultsOf(parsed.error) };
  const link = await invite(user.id, parsed.data.email, await currentOrigin());
  revalidatePath(page);
  return { once: { label: "Send this link", text: link, note: linkNote } };
}

const linkNote =
  "It makes one account within seven days, for whoever opens it first. It is not sent by itself, and it cannot be shown again.";

/** Takes an open invitation back. */
export async function revokeInvitationAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser(page);
  const error = (await refuseStrangers()) ?? (user.role === "owner" ? undefined : ownersOnly);
  if (error) return { error };
  const parsed = idForm.safeParse({ id: text(form, "id") });
  if (!parsed.success) return { error: "This invitation is not known." };
  const counted = await revokeInvitation(user.id, parsed.data.id, await currentOrigin());
  revalidatePath(page);
  return counted ? {} : { error: "It was no longer open." };
}
