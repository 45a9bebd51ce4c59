"use server";
import { headers } from "next/headers";
import { requireSameOrigin, requireUser } from "#lib/auth/guards";
import { noteVisit } from "#lib/auth/visits";

/** Notes that the person has seen what is new. */
export async function noteVisitAction(): Promise<void> {
  requireSameOrigin(await headers());
  const user = await requireUser("/home");
  await noteVisit(user.id, new Date());
}
