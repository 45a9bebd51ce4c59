"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { z } from "zod";
import { requireSameOrigin, requireUser } from "#lib/auth/guards";
import { withoutInvisible } from "#lib/fields";
import { limits } from "#lib/limits";
import { removeView, saveView } from "#lib/traces/views";
import { readerZone } from "../../components/zone";
import { readListParams } from "./filters";
import { paramsIn, queryOf } from "./hrefs";

const name = z
  .string()
  .transform((text) => withoutInvisible(text.replace(/\s+/g, " ")).trim())
  .pipe(z.string().min(1).max(limits.traces.viewName));

/** Keeps the filters of an address, as far as they are valid, under a name, and shows them. */
export async function saveViewAction(form: FormData): Promise<void> {
  const user = await requireUser("/traces");
  requireSameOrigin(await headers());
  const asked = paramsIn(z.string().max(4096).parse(form.get("query")));
  const { given, sort } = readListParams(asked, await readerZone());
  const query = queryOf(given, sort === "activity" ? {} : { sort }).toString();
  await saveView(user.id, { name: name.parse(form.get("name")), query });
  redirect(`/traces?${query}`);
}

export async function removeViewAction(form: FormData): Promise<void> {
  const user = await requireUser("/traces");
  requireSameOrigin(await headers());
  await removeView(user.id, z.string().max(256).parse(form.get("name")));
  redirect("/traces");
}
