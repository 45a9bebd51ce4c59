import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { needsSetup } from "#lib/auth/accounts";
import { currentUser } from "#lib/auth/session";
import { env } from "#lib/env";
import { PlainPage } from "../../components/plain-page";
import { AccountForm } from "../account-form";
import { signUpAction } from "../actions";

export const metadata: Metadata = { title: "Create an account" };

export default async function Page() {
  if (await currentUser()) redirect("/traces");
  if (await needsSetup()) redirect("/setup");
  const open = env().SIGN_UP === "open";
  return (
    <PlainPage title="Create an account">
      {open ? (
        <AccountForm action={signUpAction} />
      ) : (
        <p>Accounts on this server are by invitation. Ask the person who runs it.</p>
      )}
      <p className="text-muted">
        Have an account?{" "}
        <a href="/sign-in" className="link">
          Go to sign-in
        </a>
      </p>
    </PlainPage>
  );
}
