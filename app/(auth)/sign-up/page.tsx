import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { currentUser } from "#lib/auth/guards";
import { findInvitation } from "#lib/auth/invitations";
import { needsSetup } from "#lib/auth/setup";
import { env } from "#lib/core/env";
import { PlainPage } from "../../components/plain-page";
import { AccountForm } from "../account-form";
import { signUpAction } from "../actions";

export const metadata: Metadata = { title: "Create an account" };

export default async function Page({ searchParams }: PageProps<"/sign-up">) {
  if (await currentUser()) redirect("/traces");
  if (await needsSetup()) redirect("/setup");
  const { invitation: token } = await searchParams;
  const invitation = typeof token === "string" ? await findInvitation(token) : undefined;
  const open = env().SIGN_UP === "open";
  if (typeof token === "string" && !invitation && !open) return <ClosedInvitation />;
  return (
    <PlainPage title="Create an account">
      {invitation && <p className="text-muted">You were invited to archive your coding agents' sessions here.</p>}
      {open || invitation ? (
        <AccountForm
          action={signUpAction}
          invitation={invitation && typeof token === "string" ? { token, ...invitation } : undefined}
        />
      ) : (
        <p>This server requires an invitation. Ask the person who runs it.</p>
      )}
      <SignInLink />
    </PlainPage>
  );
}

function ClosedInvitation() {
  return (
    <PlainPage title="This invitation no longer works">
      <p>
        An invitation creates one account and expires after seven days; this one was used, revoked or has expired. If
        you have just created your account with it, sign in. Otherwise ask the person who sent it for a new one.
      </p>
      <SignInLink />
    </PlainPage>
  );
}

function SignInLink() {
  return (
    <p className="text-muted">
      Have an account?{" "}
      <a href="/sign-in" className="link">
        Go to sign-in
      </a>
    </p>
  );
}
