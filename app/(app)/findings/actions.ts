"use server";
import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { decide, maskAllCertain, setMasking } from "#lib/findings/rulings";
import { maskingForm, rulingForm } from "#lib/findings/schema";
import { getDayStart } from "#lib/usage/days";
import type { FormState } from "../../components/forms/form";
import {
  askFirst,
  refuseForeignOrigin,
  requireOwnOrigin,
  sent,
  text,
  toFormState,
} from "../../components/forms/form-guard";
import { orMissing } from "../../components/missing";
import { readerZone } from "../../components/shell/preferences";
import { isoDay } from "../../components/values/date-format";

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
    return toFormState(refused);
  }
  revalidatePath("/findings");
  return {};
}

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

export async function beginMaskingAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/findings");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const { project } = sent(maskingForm, { project: text(form, "project") });
  try {
    await setMasking(user.id, true, await currentOrigin(), { projectId: project });
  } catch (refused) {
    return toFormState(refused);
  }
  revalidatePath("/findings");
  return {};
}

export async function stopMaskingAction(form: FormData): Promise<void> {
  const user = await requireUser("/findings");
  await requireOwnOrigin();
  const { project, until } = sent(maskingForm, { project: text(form, "project"), until: text(form, "until") });
  const zone = await readerZone();
  const tomorrow = getDayStart(isoDay(new Date(), zone), zone, 1);
  const how = { projectId: project, ...(until === "tomorrow" && tomorrow && { until: new Date(tomorrow) }) };
  await orMissing(setMasking(user.id, false, await currentOrigin(), how));
  redirect("/findings");
}
