"use server";
import { revalidatePath } from "next/cache";
import { RedirectType, redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { SpoorError } from "#lib/core/errors";
import { deleteOriginal } from "#lib/originals/deletion";
import { deleteSelection, deleteTrace } from "#lib/traces/deletion";
import { findSubagents } from "#lib/traces/family";
import { getTrace } from "#lib/traces/queries";
import type { FormState } from "../../../../components/forms/form";
import { endById, idIn, requireOwnOrigin, text } from "../../../../components/forms/form-guard";

/** Asks again if the sub-agents have changed since the question. */
export async function deleteAction(form: FormData): Promise<void> {
  const user = await requireUser("/traces");
  await requireOwnOrigin();
  const id = idIn(form, "id");
  const mark = form.get("below");
  const origin = await currentOrigin();
  if (typeof mark === "string") {
    const ids = [id, ...(await findSubagents(user.id, [id]))];
    const deleted = await deleteSelection(user.id, { ids }, mark, origin);
    if (deleted === undefined) redirect(`/traces/${id}?delete=1`);
    leaveDeleted();
  }
  try {
    await deleteTrace(user.id, id, origin);
  } catch (error) {
    if (!(error instanceof SpoorError && error.code === "not_found")) throw error;
  }
  leaveDeleted();
}

/** Back must show neither the question nor the session as the browser remembers them. */
function leaveDeleted(): never {
  revalidatePath("/", "layout");
  redirect("/traces", RedirectType.replace);
}

/** Asks first. Deleting a deleted copy succeeds. */
export async function deleteCopyAction(_before: FormState, form: FormData): Promise<FormState> {
  const page = `/traces/${encodeURIComponent(text(form, "id"))}`;
  return endById(form, { page, unknown: "Unknown session." }, async (userId, id, from) => {
    const { source, sourceId } = await getTrace(userId, id);
    await deleteOriginal(userId, { source, sourceId }, from);
  });
}
