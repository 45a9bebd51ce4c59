"use server";
import { requireUser } from "#lib/auth/guards";
import { noteVisit } from "#lib/auth/sign-ins";
import { requireOwnOrigin } from "../../components/form-guard";

export async function noteVisitAction(): Promise<void> {
  await requireOwnOrigin();
  const user = await requireUser("/home");
  await noteVisit(user.id, new Date());
}
