import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { findInvitation } from "#lib/auth/invitations";
import { currentUser } from "#lib/auth/session";
import { needsSetup } from "#lib/auth/setup";
import { env } from "#lib/env";
import { PlainPage } from "../../components/plain-page";
import { AccountForm } from "../account-form";
import { signUpAction } from "../actions";

export const metadata: Metadata = { title: "Create an account" };

/** Where an account is made: with an invitation's link, or by anybody where the operator opened the server. */
export default async function Page({ searchParams }: PageProps<"/sign-up">) {
  if (await currentUser()) redirect("/traces");
  if (await needsSetup()) redirect("/setup");
  const { invitation: token } = await searchParams;
  const invitation = typeof token === "string" ? await findInvitation(token) : undefined;
  const open = env().SIGN_UP === "open";
  if (typeof token === "string" && !invitation && !open) return <DeadInvitation />;
  return (
    <PlainPage title="Create an account">
      {invitation && <p className="text-muted">You were invited to keep your coding agents' conversations here.</p>}
      {open || invitation ? (
        <AccountForm
          action={signUpAction}
          invitation={invitation && typeof token === "string" ? { token, ...invitation } : undefined}
        />
      ) : (
        <p>Accounts on this server are by invitation. Ask the person who runs it.</p>
      )}
      <HaveOne />
    </PlainPage>
  );
}

function DeadInvitation() {
  return (
    <PlainPage title="This invitation no longer works">
      <p>
        An invitation makes one account and ends after seven days; this one was used, taken back, or is too old. Ask the
        person who sent it for another.
      </p>
      <HaveOne />
    </PlainPage>
  );
}

function HaveOne() {
  return (
    <p className="text-muted">
      Have an account?{" "}
      <a href="/sign-in" className="link">
        Go to sign-in
      </a>
    </p>
  );
}
