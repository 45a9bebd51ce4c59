"use server";
import { revalidatePath } from "next/cache";
import { z } from "zod";
import { currentOrigin } from "#lib/auth/audit";
import { idForm } from "#lib/auth/schema";
import { requireUser } from "#lib/auth/session";
import { revokeShare, shareTrace } from "#lib/traces/shares";
import { refusalOf, refuseStrangers, text } from "../../../../components/form-guard";
import type { FormState } from "../../../../components/form-state";

/** How long a link opens, in days; `never` until it is revoked. */
const shareForm = z.object({
  id: z.uuid(),
  days: z.enum(["1", "7", "30", "90", "never"]).transform((days) => (days === "never" ? null : Number(days))),
});

/** Makes a link to a session. It is in this one answer and nowhere else. */
export async function shareAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/traces");
  const error = await refuseStrangers();
  if (error) return { error };
  const parsed = shareForm.safeParse({ id: text(form, "id"), days: text(form, "days") });
  if (!parsed.success) return { error: "This session can't be shared like that." };
  const { id, days } = parsed.data;
  try {
    const link = await shareTrace(user.id, id, days, await currentOrigin());
    revalidatePath("/settings/shares");
    return { once: { label: "Whoever has this link can read the session", text: link, note } };
  } catch (refused) {
    return refusalOf(refused);
  }
}

const note = "Copy it now: it cannot be shown again. You can revoke it in the settings at any time.";

/** Ends a link. One that has ended already is what was asked for. */
export async function revokeShareAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/settings/shares");
  const error = await refuseStrangers();
  if (error) return { error };
  const parsed = idForm.safeParse({ id: text(form, "id") });
  if (!parsed.success) return { error: "This link is not known." };
  await revokeShare(user.id, parsed.data.id, await currentOrigin());
  revalidatePath("/settings/shares");
  return {};
}
