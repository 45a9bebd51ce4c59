"use server";
import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { SpoorError } from "#lib/core/errors";
import { mergeProjects, renameProject, splitProject } from "#lib/projects/change";
import { canUndo, findSplit } from "#lib/projects/queries";
import { givenName } from "#lib/projects/schema";
import type { FormState } from "../../components/forms/form";
import {
  collectFieldErrors,
  idIn,
  refuseForeignOrigin,
  requireForm,
  requireOwnOrigin,
  text,
  toFormState,
} from "../../components/forms/form-guard";
import { orMissing } from "../../components/missing";

const makeProjectHref = (id: string, query = "") => `/projects/${encodeURIComponent(id)}${query}`;

export async function renameAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/projects");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const id = idIn(form, "id");
  const values = { name: text(form, "name") };
  const parsed = z.object({ name: givenName }).safeParse(values);
  if (!parsed.success) return { values, errors: collectFieldErrors(parsed.error) };
  try {
    await renameProject(user.id, id, parsed.data.name);
  } catch (refused) {
    return { values, ...toFormState(refused) };
  }
  revalidatePath(makeProjectHref(id));
  return { done: "Renamed." };
}

export async function mergeAction(form: FormData): Promise<void> {
  const user = await requireUser("/projects");
  await requireOwnOrigin();
  const [id, into] = [idIn(form, "id"), idIn(form, "into")];
  const merging = mergeProjects(user.id, id, into).catch(async (error: unknown) => {
    if (error instanceof SpoorError && (await canUndo(user.id, into, id))) return undefined;
    throw error;
  });
  const name = await orMissing(merging);
  redirect(makeProjectHref(into, `?${new URLSearchParams({ merged: id, ...(name !== undefined && { name }) })}`));
}

export async function undoAction(form: FormData): Promise<void> {
  const user = await requireUser("/projects");
  await requireOwnOrigin();
  const [id, mergedFrom] = [idIn(form, "id"), idIn(form, "merged")];
  const name = givenName.safeParse(requireForm(form).get("name"));
  const split = splitProject(user.id, id, { mergedFrom }, name.data).catch((error: unknown) => {
    if (error instanceof SpoorError && error.code === "invalid_request") return id;
    throw error;
  });
  redirect(makeProjectHref(await orMissing(split)));
}

export async function splitAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/projects");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const id = idIn(form, "id");
  const keys = requireForm(form)
    .getAll("alias")
    .filter((key) => typeof key === "string");
  const values = { new_name: text(form, "new_name") };
  const name = values.new_name.trim() === "" ? undefined : givenName.safeParse(values.new_name);
  if (name && !name.success) return { values, errors: { new_name: name.error.issues[0]?.message } };
  let added: string;
  try {
    added = await splitProject(user.id, id, { keys }, name?.data);
  } catch (refused) {
    const earlier = await findSplit(user.id, id, keys);
    if (earlier === undefined) return { values, ...toFormState(refused) };
    added = earlier;
  }
  redirect(makeProjectHref(added));
}
