"use server";
import { requireUser } from "#lib/auth/guards";
import { noteVisit } from "#lib/auth/sign-in/sign-ins";
import { requireOwnOrigin } from "../../components/forms/form-guard";

export async function noteVisitAction(): Promise<void> {
  await requireOwnOrigin();
  const user = await requireUser("/home");
  await noteVisit(user.id, new Date());
}
