"use server";
import { redirect } from "next/navigation";
import { z } from "zod";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { chosenIds, filterNames, traceFilter } from "#lib/search/schema";
import { deleteSelection } from "#lib/traces/deletion";
import { findSubagents } from "#lib/traces/family";
import { jsonIn, requireOwnOrigin, text } from "../../../components/forms/form-guard";
import { type GivenFilters, listHref, toSearchParams } from "../hrefs";

const counted = traceFilter.omit({ roots: true }).extend({
  starred: z.boolean().optional(),
  archived: z.boolean().optional(),
  trivial: z.boolean().optional(),
  errors: z.boolean().optional(),
  minMessages: z.int().min(1).optional(),
  ids: chosenIds.optional(),
  storedUntil: z.iso.datetime().optional(),
});
const given = z.partialRecord(z.enum(filterNames), z.union([z.string(), z.array(z.string())]));

export async function deleteSelectionAction(form: FormData): Promise<void> {
  const user = await requireUser("/traces");
  await requireOwnOrigin();
  const selection = jsonIn(form, "selection", counted);
  const filters = jsonIn(form, "given", given);
  const below = form.get("below");
  const ids = selection.ids ?? [];
  const chosen = typeof below === "string" ? { ids: [...ids, ...(await findSubagents(user.id, ids))] } : selection;
  const mark = typeof below === "string" ? below : text(form, "mark");
  const deleted = await deleteSelection(user.id, chosen, mark, await currentOrigin());
  if (deleted !== undefined)
    redirect(listHref(selection.ids ? (filters as GivenFilters) : {}, { deleted: String(deleted) }));
  const again = toSearchParams(filters as GivenFilters, { changed: "1" });
  for (const id of selection.ids ?? []) again.append("id", id);
  if (!selection.ids) again.set("all", "1");
  redirect(`/traces/delete?${again}`);
}
