import type { Metadata } from "next";
import { isSetupToken, needsSetup } from "#lib/auth/setup";
import { PlainPage } from "../../components/plain-page";
import { AccountForm } from "../account-form";
import { setUpAction } from "../actions";

export const metadata: Metadata = { title: "Set up" };

export default async function Page({ searchParams }: PageProps<"/setup">) {
  const { token } = await searchParams;
  if (typeof token === "string" && (await isSetupToken(token))) {
    return (
      <PlainPage title="Set up this server">
        <p className="text-muted">
          This creates the first account, the owner's. The next page shows how to connect a machine.
        </p>
        <AccountForm action={setUpAction} token={token} />
      </PlainPage>
    );
  }
  return (await needsSetup()) ? <NoLink given={token !== undefined} /> : <AlreadySetUp />;
}

function NoLink({ given }: { given: boolean }) {
  return (
    <PlainPage title={given ? "This link no longer works" : "This server has no account yet"}>
      <p>
        {given
          ? "Restart the server: it prints a new set-up link in its terminal, and only the newest one works."
          : "Open the set-up link that the server printed in its terminal. If you can't find it, restart the server: it prints a new one."}
      </p>
    </PlainPage>
  );
}

function AlreadySetUp() {
  return (
    <PlainPage title="This link no longer works">
      <p>A set-up link works once, and this server already has its first account.</p>
      <p>
        <a href="/sign-in" className="link target">
          Go to sign-in
        </a>
      </p>
    </PlainPage>
  );
}
