"use server";
import { revalidatePath } from "next/cache";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { chosenIds } from "#lib/search/schema";
import { addTag, markAll, setMarks } from "#lib/traces/marks";
import { marksShape, tagName } from "#lib/traces/schema";
import type { FormState } from "../../../components/forms/form";
import { idIn, requireForm, requireOwnOrigin, sent, toFormState } from "../../../components/forms/form-guard";
import { orMissing } from "../../../components/missing";

const change = marksShape.pick({ starred: true, archived: true });

export async function markSessions(ids: string[], marks: { starred?: boolean; archived?: boolean }): Promise<void> {
  const user = await requireUser("/traces");
  await requireOwnOrigin();
  await markAll(user.id, sent(chosenIds, ids), sent(change, marks));
  revalidatePath("/traces");
}

export async function tagSessions(ids: string[], tag: string): Promise<string | undefined> {
  const user = await requireUser("/traces");
  await requireOwnOrigin();
  const parsed = tagName.safeParse(tag);
  if (!parsed.success) return `A tag ${parsed.error.issues[0]?.message}.`;
  await addTag(user.id, sent(chosenIds, ids), parsed.data);
  revalidatePath("/traces");
  return undefined;
}

const noted = z.object({ id: z.uuid(), title: z.string(), tags: z.string(), note: z.string() });

export async function describeSession(_: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/traces");
  await requireOwnOrigin();
  const given = noted.safeParse(Object.fromEntries(requireForm(form)));
  if (!given.success) return { error: "Unknown session." };
  const { id, title, tags, note } = given.data;
  const marks = marksShape.safeParse({ title, note, tags: tags.split(",").filter((tag) => tag.trim() !== "") });
  if (!marks.success) {
    const [issue] = marks.error.issues;
    return { error: `${String(issue?.path[0] ?? "The form")}: ${issue?.message}.` };
  }
  try {
    await setMarks(user.id, id, marks.data);
  } catch (refused) {
    return toFormState(refused); // it was deleted meanwhile
  }
  revalidatePath(`/traces/${id}`);
  return { done: "Saved." };
}

export async function markSession(form: FormData): Promise<void> {
  const user = await requireUser("/traces");
  await requireOwnOrigin();
  const id = idIn(form, "id");
  const is = (name: string) => (form.has(name) ? { [name]: form.get(name) === "true" } : {});
  await orMissing(setMarks(user.id, id, change.parse({ ...is("starred"), ...is("archived") })));
  revalidatePath(`/traces/${id}`);
}
