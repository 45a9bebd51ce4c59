import "server-only";
import { redirect } from "next/navigation";
import { z } from "zod";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import { grant } from "#lib/auth/oauth/grants";
import { OauthError } from "#lib/auth/oauth/protocol";
import { type AgentRequest, answerAddress, readAgentRequest } from "#lib/auth/oauth/request";
import { isTicket, makeTicket } from "#lib/auth/sent-forms";
import { labelText, readLabels } from "#lib/projects/queries";
import { requireOwnOrigin, text } from "../../components/forms/form-guard";

export type Asked = Extract<AgentRequest, { challenge: string }>;

export const ticketSubject = (kind: "consent" | "answer", about: string): string => `oauth-${kind}:${about}`;

const answerHref = ({ signInId }: SignedInUser, to: string): string =>
  `/oauth/authorize?${new URLSearchParams({ to, ticket: makeTicket(signInId, ticketSubject("answer", to)) })}`;

const denied = { error: "access_denied", error_description: "The person denied access." };
const gone = { error: "access_denied", error_description: "The chosen project no longer exists." };

async function findProject(userId: string, id: string): Promise<{ id: string; name: string } | undefined> {
  const label = z.uuid().safeParse(id).success ? (await readLabels(userId, [id])).get(id) : undefined;
  return label && { id, name: labelText(label) };
}

export function readRequest(query: Parameters<typeof readAgentRequest>[0]): AgentRequest | OauthError {
  try {
    return readAgentRequest(query);
  } catch (error) {
    if (error instanceof OauthError) return error;
    throw error;
  }
}

/** @param form its `ticket` proves the sign-in and request; `project` is the only one to read */
export async function decide(decision: "approved" | "denied", form: FormData): Promise<never> {
  const query = text(form, "request");
  const again = `/oauth/authorize?${new URLSearchParams(query)}`;
  const user = await requireUser(again);
  await requireOwnOrigin();
  if (!isTicket(form.get("ticket"), user.signInId, ticketSubject("consent", query))) redirect(again);
  const request = readRequest(Object.fromEntries(new URLSearchParams(query)));
  if (request instanceof OauthError || "refused" in request) redirect(again);
  const { client, returnTo, challenge } = request;
  if (decision === "denied") redirect(answerHref(user, answerAddress(returnTo, denied)));
  const asked = text(form, "project");
  const project = asked === "" ? null : await findProject(user.id, asked);
  if (project === undefined) redirect(answerHref(user, answerAddress(returnTo, gone)));
  const { redirectUri } = returnTo;
  const given = await grant(user.id, { client, redirectUri, challenge, project }, await currentOrigin()).catch(
    (error: unknown) => {
      if (error instanceof OauthError) return error;
      throw error;
    },
  );
  const answer: Record<string, string> =
    given instanceof OauthError ? { error: given.code, error_description: given.message } : { code: given };
  redirect(answerHref(user, answerAddress(returnTo, answer)));
}
