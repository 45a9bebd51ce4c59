"use server";
import { revalidatePath } from "next/cache";
import { z } from "zod";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { limits } from "#lib/core/limits";
import { revokeShare, shareTrace } from "#lib/shares/shares";
import type { FormState } from "../../../../components/forms/form";
import { endById, formIdIn, refuseForeignOrigin, text, toFormState } from "../../../../components/forms/form-guard";

const position = z.preprocess(
  (given) => (given === "" ? null : Number(given)),
  z.int().min(0).max(limits.message.integer).nullable(),
);

const shareForm = z.object({
  id: z.uuid(),
  from: position,
  to: position,
  plain: z.literal("1").optional(),
  pictures: z.literal("1").optional(),
  days: z.enum(["1", "7", "30", "90", "never"]).transform((days) => (days === "never" ? null : Number(days))),
});

export async function shareAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/traces");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const parsed = shareForm.safeParse({
    id: text(form, "id"),
    from: text(form, "from"),
    to: text(form, "to"),
    ...(text(form, "plain") === "1" && { plain: "1" }),
    ...(text(form, "pictures") === "1" && { pictures: "1" }),
    days: text(form, "days"),
  });
  if (!parsed.success) return { error: "These settings are not valid for sharing." };
  const { id, days, from, to, plain, pictures } = parsed.data;
  const shown = { from, to, masked: !plain, pictures: pictures !== undefined };
  try {
    const link = await shareTrace(user.id, id, { days, ...shown }, await currentOrigin(), formIdIn(form));
    revalidatePath("/settings/shares");
    return { once: { label: "Anybody with this link can read what is shown below", text: link, note } };
  } catch (refused) {
    return toFormState(refused);
  }
}

const note = "Copy it now: it can't be shown again. You can revoke it in the settings at any time.";

/** Asks first. Revoking a revoked link succeeds. */
export async function revokeShareAction(_before: FormState, form: FormData): Promise<FormState> {
  return endById(form, { page: "/settings/shares", unknown: "Unknown link." }, revokeShare);
}
