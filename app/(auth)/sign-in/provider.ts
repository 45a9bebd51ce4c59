"use server";
import { headers } from "next/headers";
import { auth } from "#lib/auth/auth";
import { configuredProviders } from "#lib/auth/providers";
import { localPath } from "#lib/auth/schema";
import { refuseForeignOrigin, text } from "../../components/form-guard";
import type { ProviderState } from "../../components/provider-form";

/** Starts a sign-in with a provider, on whose own pages it continues. */
export async function providerSignInAction(_before: ProviderState, form: FormData): Promise<ProviderState> {
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const provider = text(form, "provider");
  if (!(provider in configuredProviders())) return { error: "This server does not offer that provider." };
  const next = localPath(text(form, "next"));
  const callbackURL = next === "/" ? "/traces" : next;
  const body = { provider, callbackURL, errorCallbackURL: "/sign-in", disableRedirect: true };
  const { url } = await auth().api.signInSocial({ body, headers: await headers() });
  return { url };
}
