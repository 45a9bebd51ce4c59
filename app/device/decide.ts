import "server-only";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import { decideLogin, getLogin, isDecided } from "#lib/device/login";
import { idIn, requireOwnOrigin, text } from "../components/forms/form-guard";
import { tickedScopes } from "../components/forms/scopes";
import { codelessHref, isSameNetwork, lookUp, readStage, type Stage } from "./stage";

/**
 * @param form its `ticket` proves the sign-in, the login, and whether the code has to be typed; its `code` only leads
 * back to the page
 */
export async function decide(decision: "approved" | "denied", form: FormData): Promise<never> {
  const code = text(form, "code").slice(0, 64);
  const page = code ? `/device?code=${encodeURIComponent(code)}` : "/device";
  const user = await requireUser(page);
  await requireOwnOrigin();
  const id = idIn(form, "login");
  const stage = readStage(user, id, form.get("ticket"));
  if (!stage) redirect("/device?done=foreign");
  const granted = decision === "approved" ? tickedScopes(form) : undefined;
  if (granted) {
    await requireKnownCode(user, id, stage, form);
    if (granted.length === 0)
      redirect(retryHref(stage === "near" ? page : codelessHref(user, stage, id), "scopes", []));
  }
  const decided = await decideLogin(user.id, id, decision, await currentOrigin(), granted);
  const isSo = decided || (await isDecided(user.id, id, decision, granted));
  redirect(`/device?done=${isSo ? decision : "late"}`);
}

async function requireKnownCode(user: SignedInUser, id: string, stage: Stage, form: FormData): Promise<void> {
  if (stage === "typed") return;
  const login = await getLogin(id);
  if (!login) redirect("/device?done=late");
  const linked = codelessHref(user, "linked", id);
  if (stage === "near") {
    // The browser may have changed networks since the page was rendered.
    if (!isSameNetwork(login.ipAddress, await headers())) redirect(linked);
    return;
  }
  const typed = await lookUp(user.id, text(form, "typedCode"));
  if (typed?.id !== id) redirect(retryHref(linked, "code", tickedScopes(form)));
}

const retryHref = (page: string, wrong: "code" | "scopes", ticked: string[]) =>
  `${page}&retry=${wrong}&ticked=${ticked.join(",")}`;
