"use server";
import { redirect } from "next/navigation";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { withoutInvisible } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { removeView, saveView } from "#lib/traces/views";
import type { FormState } from "../../../components/forms/form";
import { requireForm, requireOwnOrigin, text, toFormState } from "../../../components/forms/form-guard";
import { readerZone } from "../../../components/shell/preferences";
import { paramsIn, toSearchParams } from "../hrefs";
import { readListParams } from "./filters";

const name = z
  .string()
  .transform((text) => withoutInvisible(text.replace(/\s+/g, " ")).trim())
  .pipe(z.string().min(1, "Enter a name.").max(limits.traces.viewName));
const view = z.object({ name, query: z.string().max(4096, "These filters are too long to save.") });

export async function saveViewAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/traces");
  await requireOwnOrigin();
  const parsed = view.safeParse({ name: text(form, "name"), query: text(form, "query") });
  if (!parsed.success) return { error: parsed.error.issues[0]?.message ?? "" };
  const { given, sort } = readListParams(paramsIn(parsed.data.query), await readerZone());
  const query = toSearchParams(given, sort === "activity" ? {} : { sort }).toString();
  try {
    await saveView(user.id, { name: parsed.data.name, query });
  } catch (refused) {
    return toFormState(refused);
  }
  redirect(`/traces?${query}`);
}

export async function removeViewAction(form: FormData): Promise<void> {
  const user = await requireUser("/traces");
  await requireOwnOrigin();
  const kept = name.safeParse(requireForm(form).get("name"));
  if (kept.success) await removeView(user.id, kept.data);
  redirect("/traces");
}
