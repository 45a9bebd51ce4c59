import type { Metadata } from "next";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import { scopesIn } from "#lib/core/fields";
import { getLogin, type LoginRequest } from "#lib/device/login";
import { PlainPage } from "../components/plain-page";
import type { SearchParams } from "../components/shell/pages";
import { Approval } from "./approval";
import { CodeForm } from "./code-form";
import { Done, StartAgain } from "./outcome";
import { codelessHref, isSameNetwork, lookUp, readStage } from "./stage";

export const metadata: Metadata = { title: "Approve a login" };

export default async function Page({ searchParams }: PageProps<"/device">) {
  const query = await searchParams;
  const code = readParam(query.code);
  const user = await requireUser(code ? `/device?code=${encodeURIComponent(code)}` : "/device");
  if (typeof query.done === "string") return <Done done={query.done} />;
  if (code) return <CodeLogin user={user} code={code} query={query} />;
  if (query.login) return <TicketLogin user={user} query={query} />;
  return query.unknown === undefined ? <CodeForm /> : <CodeForm unknown={readParam(query.unknown)} />;
}

/** From another network neither page nor address contains the code. */
async function CodeLogin({ user, code, query }: { user: SignedInUser; code: string; query: SearchParams }) {
  const login = await lookUp(user.id, code);
  if (!login) return <CodeForm unknown={code} />;
  if (login.status !== "pending") return <Closed status={login.status} />;
  if (!isSameNetwork(login.ipAddress, await headers())) redirect(codelessHref(user, "linked", login.id));
  return <Approval login={login} code={login.userCode} user={user} stage="near" retry={readRetry(query, login)} />;
}

async function TicketLogin({ user, query }: { user: SignedInUser; query: SearchParams }) {
  const id = readParam(query.login);
  const stage = readStage(user, id, query.ticket);
  if (!stage || stage === "near") return <Done done="foreign" />;
  const login = await getLogin(id);
  if (!login) return <Done done="late" />;
  if (login.status !== "pending") return <Closed status={login.status} />;
  return <Approval login={login} user={user} stage={stage} retry={readRetry(query, login)} />;
}

const readParam = (value: SearchParams[string]) => (typeof value === "string" ? value.trim().slice(0, 64) : "");

/** A link can remove requested scopes, but never add one. */
function readRetry(
  { retry, ticked }: SearchParams,
  { scopes }: LoginRequest,
): { wrong?: "code" | "scopes"; ticked: typeof scopes } {
  if (retry !== "code" && retry !== "scopes") return { ticked: scopes };
  const before = scopesIn(readParam(ticked).split(","));
  return { wrong: retry, ticked: scopes.filter((scope) => before.includes(scope)) };
}

const sentences = {
  approved: "This login is already approved. Its terminal continues automatically.",
  redeemed: "This login was already approved and used.",
  denied: "This login was denied.",
  expired: "This login has expired: a code is valid for ten minutes.",
} as const;

function Closed({ status }: { status: keyof typeof sentences }) {
  return (
    <PlainPage title="Nothing to approve">
      <p>{sentences[status]}</p>
      {status !== "approved" && <StartAgain />}
    </PlainPage>
  );
}
