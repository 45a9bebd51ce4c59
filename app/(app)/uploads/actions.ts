"use server";
import { revalidatePath } from "next/cache";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { getJob } from "#lib/ingest/jobs";
import { replayFailedJobs, replayJob } from "#lib/ingest/replay";
import { processSoon } from "#server/background/after-response";
import type { FormState } from "../../components/forms/form";
import { refuseForeignOrigin, text, toFormState } from "../../components/forms/form-guard";
import { formatQuantity } from "../../components/values/figures";

/** The field `all` replays every failed upload. */
export async function replayAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/uploads");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  try {
    const done = text(form, "all") ? await replayAll(user.id) : await replayOne(user.id, text(form, "id"));
    processSoon();
    return { done };
  } catch (refused) {
    return toFormState(refused);
  } finally {
    revalidatePath("/uploads", "layout");
  }
}

/** A double click sends two requests before the page's script runs. */
async function replayOne(userId: string, id: string): Promise<string> {
  const jobId = z.uuid().catch(nobody).parse(id);
  try {
    await replayJob(userId, jobId);
  } catch (refused) {
    const { status } = await getJob(userId, jobId);
    if (status !== "queued" && status !== "running") throw refused;
  }
  return "The upload is queued again.";
}

/** An id that no job has. */
const nobody = "00000000-0000-0000-0000-000000000000";

async function replayAll(userId: string): Promise<string> {
  const { replayed, left, gone } = await replayFailedJobs(userId);
  const sentences = [
    replayed === 0 && left === 0 ? "No upload was replayed." : `${formatQuantity(replayed, "upload")} replayed.`,
    left > 0 && `${formatQuantity(left, "more", "more")} can be replayed: press again.`,
    gone > 0 &&
      `${formatQuantity(gone, "failed upload is", "failed uploads are")} no longer stored and cannot be replayed.`,
  ];
  return sentences.filter(Boolean).join(" ");
}
