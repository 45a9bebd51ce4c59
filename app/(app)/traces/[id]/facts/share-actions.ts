"use server";
import { revalidatePath } from "next/cache";
import { z } from "zod";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { idForm } from "#lib/auth/schema";
import { revokeShare, shareTrace } from "#lib/traces/shares";
import { askFirst, refusalOf, refuseForeignOrigin, text } from "../../../../components/form-guard";
import type { FormState } from "../../../../components/form-state";

/** For how many days a link is valid, or `never` for one that does not expire. */
const shareForm = z.object({
  id: z.uuid(),
  days: z.enum(["1", "7", "30", "90", "never"]).transform((days) => (days === "never" ? null : Number(days))),
});

/** Creates a link to a session. It is shown this one time. */
export async function shareAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/traces");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const parsed = shareForm.safeParse({ id: text(form, "id"), days: text(form, "days") });
  if (!parsed.success) return { error: "This session can't be shared like that." };
  const { id, days } = parsed.data;
  try {
    const link = await shareTrace(user.id, id, days, await currentOrigin());
    revalidatePath("/settings/shares");
    return { once: { label: "Anybody with this link can read the session", text: link, note } };
  } catch (refused) {
    return refusalOf(refused);
  }
}

const note = "Copy it now: it can't be shown again. You can revoke it in the settings at any time.";

/** Revokes a link, after asking. One that is revoked already is not an error. */
export async function revokeShareAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/settings/shares");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const parsed = idForm.safeParse({ id: text(form, "id") });
  if (!parsed.success) return { error: "Unknown link." };
  const question = askFirst(form);
  if (question) return question;
  await revokeShare(user.id, parsed.data.id, await currentOrigin());
  revalidatePath("/settings/shares");
  return {};
}
