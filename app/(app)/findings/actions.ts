"use server";
import { revalidatePath } from "next/cache";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { decide, maskAllCertain, setMasking } from "#lib/findings/rulings";
import { rulingForm } from "#lib/findings/schema";
import { askFirst, refusalOf, refuseForeignOrigin, text } from "../../components/form-guard";
import type { FormState } from "../../components/form-state";

/** Masks a secret, in one session or everywhere, after asking; or keeps it as none. */
export async function decideAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/findings");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const parsed = rulingForm.safeParse({
    kind: text(form, "kind"),
    mark: text(form, "mark"),
    trace: text(form, "trace") || undefined,
    verdict: text(form, "verdict"),
  });
  if (!parsed.success) return { error: "Unknown secret." };
  const question = parsed.data.verdict === "mask" ? askFirst(form) : undefined;
  if (question) return question;
  try {
    await decide(user.id, parsed.data, await currentOrigin());
  } catch (refused) {
    return refusalOf(refused);
  }
  revalidatePath("/findings");
  return {};
}

/** Masks all that is certain to be a secret and is stored as it came, after asking. */
export async function maskAllAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/findings");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const question = askFirst(form);
  if (question) return question;
  await maskAllCertain(user.id, await currentOrigin());
  revalidatePath("/findings");
  return {};
}

/** Turns the masking of what comes on or off. */
export async function setMaskingAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/findings");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  await setMasking(user.id, text(form, "masks") === "on", await currentOrigin());
  revalidatePath("/findings");
  return {};
}
