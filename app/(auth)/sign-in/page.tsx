import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { needsSetup } from "#lib/auth/accounts";
import { localPath } from "#lib/auth/schema";
import { currentUser } from "#lib/auth/session";
import { env } from "#lib/env";
import { Notice } from "../../components/notice";
import { PlainPage } from "../../components/plain-page";
import { SignInForm } from "./form";

export const metadata: Metadata = { title: "Sign in" };

export default async function Page({ searchParams }: PageProps<"/sign-in">) {
  const { next } = await searchParams;
  const target = localPath(typeof next === "string" ? next : undefined);
  if (await currentUser()) redirect(target);
  return (
    <PlainPage title="Sign in">
      {(await needsSetup()) && (
        <Notice tone="info">
          <p>There is no account yet. The set-up link that the server printed in the terminal makes the first one.</p>
        </Notice>
      )}
      <SignInForm next={target} />
      {env().SIGN_UP === "open" && (
        <p className="text-muted">
          No account yet?{" "}
          <a href="/sign-up" className="link">
            Make one
          </a>
        </p>
      )}
    </PlainPage>
  );
}
