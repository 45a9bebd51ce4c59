import type { Metadata } from "next";
import { headers } from "next/headers";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import { findLogin, type LoginRequest } from "#lib/device/login";
import { SpoorError } from "#lib/errors";
import { clientAddress } from "#lib/http/address";
import { PlainPage } from "../components/plain-page";
import { Approval } from "./approval";
import { CodeForm } from "./code-form";
import { isSameNetwork } from "./network";
import { Done, StartAgain } from "./outcome";

export const metadata: Metadata = { title: "Approve a login" };

/** Where a person approves or denies the login of a machine (RFC 8628, section 3.3). */
export default async function Page({ searchParams }: PageProps<"/device">) {
  const { code, done, retry } = await searchParams;
  const typed = typeof code === "string" ? code.trim().slice(0, 64) : "";
  const user = await requireUser(typed ? `/device?code=${encodeURIComponent(typed)}` : "/device");
  if (typeof done === "string") return <Done done={done} />;
  if (!typed) return <CodeForm />;
  return <Login user={user} typed={typed} retry={retry === "1"} />;
}

async function Login({ user, typed, retry }: { user: SignedInUser; typed: string; retry: boolean }) {
  const login = await lookUp(user.id, typed);
  if (login === "limited") {
    return (
      <PlainPage title="Too many codes">
        <p>You tried many codes in a short time. Wait ten minutes, then open the link of your login again.</p>
      </PlainPage>
    );
  }
  if (!login) return <CodeForm unknown={typed} />;
  if (login.status !== "pending") return <Closed status={login.status} />;
  const sameNetwork = isSameNetwork(login.ipAddress, clientAddress(await headers()));
  return <Approval login={login} user={user} sameNetwork={sameNetwork} retry={retry} />;
}

async function lookUp(userId: string, typed: string): Promise<LoginRequest | undefined | "limited"> {
  try {
    return await findLogin(userId, typed);
  } catch (error) {
    if (error instanceof SpoorError && error.code === "rate_limited") return "limited";
    throw error;
  }
}

const sentences = {
  approved: "This login is already approved; its terminal continues automatically.",
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
