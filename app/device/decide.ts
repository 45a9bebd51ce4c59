import "server-only";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { requireSameOrigin, requireUser } from "#lib/auth/session";
import { isTicket } from "#lib/auth/ticket";
import { decideLogin, type LoginRequest } from "#lib/device/login";
import { normalizeUserCode } from "#lib/device/schema";

/**
 * Decides the login that an approval page showed, and goes on to the page that says what came of it.
 *
 * @param form.ticket the page's proof that it was made for this session and this login.
 * @param form.typed the code as it was typed anew, where the networks differ; undefined where that is not asked for.
 */
export async function decide(
  login: Pick<LoginRequest, "id" | "userCode">,
  decision: "approved" | "denied",
  form: { ticket: unknown; typed?: string | undefined },
): Promise<never> {
  const page = `/device?code=${login.userCode}`;
  const user = await requireUser(page);
  requireSameOrigin(await headers());
  if (!isTicket(form.ticket, user.sessionId, login.id)) redirect("/device?done=strange");
  if (form.typed !== undefined && normalizeUserCode(form.typed) !== normalizeUserCode(login.userCode))
    redirect(`${page}&retry=1`);
  const counted = await decideLogin(user.id, login.id, decision, await currentOrigin());
  redirect(`/device?done=${counted ? decision : "late"}`);
}
