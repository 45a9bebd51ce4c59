"use server";
import { revalidatePath } from "next/cache";
import { currentOrigin, logSecurity } from "#lib/auth/audit";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import { invite, revokeInvitation } from "#lib/auth/invitations";
import { idForm, inviteForm } from "#lib/auth/schema";
import type { FormState } from "../../../components/forms/form";
import {
  askFirst,
  collectFieldErrors,
  formIdIn,
  refuseForeignOrigin,
  text,
} from "../../../components/forms/form-guard";

const page = "/settings/invitations";

async function refuseOthers({ id: userId, role }: SignedInUser): Promise<string | undefined> {
  if (role === "owner") return undefined;
  logSecurity("not_the_owner", await currentOrigin(), { userId });
  return "Only the owner of this server can invite.";
}

export async function inviteAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser(page);
  const values = { email: text(form, "email").trim() };
  const error = (await refuseForeignOrigin()) ?? (await refuseOthers(user));
  if (error) return { values, error };
  const parsed = inviteForm.safeParse(values);
  if (!parsed.success) return { values, errors: collectFieldErrors(parsed.error) };
  const link = await invite(user.id, parsed.data.email, await currentOrigin(), formIdIn(form));
  revalidatePath(page);
  return { once: { label: "Send this link", text: link, note: linkNote } };
}

const linkNote =
  "The first person to use it within seven days can create one account. Spoor does not send it, and it can't be shown again.";

export async function revokeInvitationAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser(page);
  const error = (await refuseForeignOrigin()) ?? (await refuseOthers(user));
  if (error) return { error };
  const parsed = idForm.safeParse({ id: text(form, "id") });
  if (!parsed.success) return { error: "Unknown invitation." };
  const question = askFirst(form);
  if (question) return question;
  const revoked = await revokeInvitation(user.id, parsed.data.id, await currentOrigin());
  revalidatePath(page);
  return revoked ? {} : { error: "This invitation was already used or revoked." };
}
