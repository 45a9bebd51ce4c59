"use server";
import { deleteOriginal } from "#lib/originals/deletion";
import { getTrace } from "#lib/traces/queries";
import type { FormState } from "../../../../components/forms/form";
import { endById, text } from "../../../../components/forms/form-guard";

/** Asks first. Deleting a deleted copy succeeds. */
export async function deleteCopyAction(_before: FormState, form: FormData): Promise<FormState> {
  const page = `/traces/${encodeURIComponent(text(form, "id"))}`;
  return endById(form, { page, unknown: "Unknown session." }, async (userId, id, from) => {
    const { source, sourceId } = await getTrace(userId, id);
    await deleteOriginal(userId, { source, sourceId }, from);
  });
}
