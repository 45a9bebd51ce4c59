import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { currentUser } from "#lib/auth/guards";
import { needsSetup } from "#lib/auth/setup";
import { configuredProviders, type Provider, providerNames } from "#lib/auth/sign-in/providers";
import { env } from "#lib/core/env";
import { localPath } from "#lib/http/address";
import { ProviderForm } from "../../components/forms/provider-form";
import { Notice } from "../../components/notice";
import { PlainPage } from "../../components/plain-page";
import { SignInForm } from "./form";
import { providerSignInAction } from "./provider";

export const metadata: Metadata = { title: "Sign in" };

export default async function Page({ searchParams }: PageProps<"/sign-in">) {
  const { next, deleted, error } = await searchParams;
  const providers = Object.keys(configuredProviders()) as Provider[];
  const target = localPath(typeof next === "string" ? next : undefined);
  if (await currentUser()) redirect(target);
  return (
    <PlainPage title="Sign in">
      {(await needsSetup()) && (
        <Notice tone="info">
          <p>
            There is no account yet. Create the first one with the set-up link that the server prints when it starts.
          </p>
        </Notice>
      )}
      {deleted === "1" && (
        <Notice tone="info">
          <p role="status">Your account and everything in it were deleted.</p>
        </Notice>
      )}
      {typeof error === "string" && (
        <Notice tone="bad">
          <p>
            Sign-in failed. The provider refused, or no account here is connected to that identity. Sign in with your
            password and connect it in the settings.
          </p>
        </Notice>
      )}
      <SignInForm next={target} />
      {providers.map((provider) => (
        <ProviderForm
          key={provider}
          action={providerSignInAction}
          provider={provider}
          label={`Sign in with ${providerNames[provider]}`}
          next={target}
          remember
        />
      ))}
      <details className="text-muted">
        <summary className="target w-fit">Forgot your password?</summary>
        <p className="pt-2">
          Ask the person who runs this server for a new one. It sends no mail; they run{" "}
          <code className="font-mono text-code">npm run admin -- reset-password</code> with your email address.
        </p>
      </details>
      {env().SIGN_UP === "open" && (
        <p className="text-muted">
          No account yet?{" "}
          <a href="/sign-up" className="link">
            Create one
          </a>
        </p>
      )}
    </PlainPage>
  );
}
