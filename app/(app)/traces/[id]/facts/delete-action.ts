"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { z } from "zod";
import { currentOrigin } from "#lib/auth/audit";
import { requireSameOrigin, requireUser } from "#lib/auth/guards";
import { SpoorError } from "#lib/errors";
import { deleteTrace } from "#lib/traces/deletion";

/** Deletes a session permanently; one that no longer exists counts as deleted. */
export async function deleteAction(form: FormData): Promise<void> {
  const user = await requireUser("/traces");
  requireSameOrigin(await headers());
  const id = z.uuid().parse(form.get("id"));
  try {
    await deleteTrace(user.id, id, await currentOrigin());
  } catch (error) {
    if (!(error instanceof SpoorError && error.code === "not_found")) throw error;
  }
  redirect("/traces");
}
