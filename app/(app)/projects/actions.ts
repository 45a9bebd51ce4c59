"use server";
import { revalidatePath } from "next/cache";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { z } from "zod";
import { requireSameOrigin, requireUser } from "#lib/auth/guards";
import { mergeProjects, renameProject, splitProject } from "#lib/projects/change";
import { givenName } from "#lib/projects/schema";
import { errorsOf, refusalOf, refuseForeignOrigin, text } from "../../components/form-guard";
import type { FormState } from "../../components/form-state";

const hrefOf = (id: string, query = "") => `/projects/${encodeURIComponent(id)}${query}`;

/** Gives a project another name. */
export async function renameAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/projects");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const id = z.uuid().parse(form.get("id"));
  const values = { name: text(form, "name") };
  const parsed = z.object({ name: givenName }).safeParse(values);
  if (!parsed.success) return { values, errors: errorsOf(parsed.error) };
  try {
    await renameProject(user.id, id, parsed.data.name);
  } catch (refused) {
    return { values, ...refusalOf(refused) };
  }
  revalidatePath(hrefOf(id));
  return { done: "Renamed." };
}

/** Merges a project into another one, whose page then offers to undo it. */
export async function mergeAction(form: FormData): Promise<void> {
  const user = await requireUser("/projects");
  requireSameOrigin(await headers());
  const { id, into } = z.object({ id: z.uuid(), into: z.uuid() }).parse(Object.fromEntries(form));
  const merged = await mergeProjects(user.id, id, into);
  redirect(hrefOf(into, `?${new URLSearchParams({ merged: id, name: merged })}`));
}

/** Takes what was merged into a project out of it again. */
export async function undoAction(form: FormData): Promise<void> {
  const user = await requireUser("/projects");
  requireSameOrigin(await headers());
  const { id, merged } = z.object({ id: z.uuid(), merged: z.uuid() }).parse(Object.fromEntries(form));
  const name = givenName.safeParse(form.get("name"));
  redirect(hrefOf(await splitProject(user.id, id, { mergedFrom: merged }, name.data)));
}

/** Makes a new project of some of what a project is recognized by. */
export async function splitAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/projects");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const id = z.uuid().parse(form.get("id"));
  const keys = form.getAll("alias").filter((key) => typeof key === "string");
  const values = { new_name: text(form, "new_name") };
  const name = values.new_name.trim() === "" ? undefined : givenName.safeParse(values.new_name);
  if (name && !name.success) return { values, errors: { new_name: name.error.issues[0]?.message } };
  let added: string;
  try {
    added = await splitProject(user.id, id, { keys }, name?.data);
  } catch (refused) {
    return { values, ...refusalOf(refused) };
  }
  redirect(hrefOf(added));
}
