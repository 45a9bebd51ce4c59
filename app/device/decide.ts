import "server-only";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { requireSameOrigin, requireUser } from "#lib/auth/guards";
import { isTicket } from "#lib/auth/ticket";
import { decideLogin, type LoginRequest } from "#lib/device/login";
import { normalizeUserCode } from "#lib/device/schema";

/**
 * Approves or denies the login that an approval page showed, and redirects to the page with the outcome.
 *
 * @param form.ticket proves that the form was rendered for this sign-in and this login.
 * @param form.typed the code as it was typed, where the networks differ; undefined where it is not required.
 */
export async function decide(
  login: Pick<LoginRequest, "id" | "userCode">,
  decision: "approved" | "denied",
  form: { ticket: unknown; typed?: string | undefined },
): Promise<never> {
  const page = `/device?code=${login.userCode}`;
  const user = await requireUser(page);
  requireSameOrigin(await headers());
  if (!isTicket(form.ticket, user.signInId, login.id)) redirect("/device?done=foreign");
  if (form.typed !== undefined && normalizeUserCode(form.typed) !== normalizeUserCode(login.userCode))
    redirect(`${page}&retry=1`);
  const decided = await decideLogin(user.id, login.id, decision, await currentOrigin());
  redirect(`/device?done=${decided ? decision : "late"}`);
}
