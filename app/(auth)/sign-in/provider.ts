"use server";
import { isAPIError } from "better-auth/api";
import { headers } from "next/headers";
import { auth } from "#lib/auth/auth";
import { configuredProviders } from "#lib/auth/sign-in/providers";
import { localPath } from "#lib/http/address";
import { refuseForeignOrigin, text } from "../../components/forms/form-guard";
import type { ProviderState } from "../../components/forms/provider-form";

export async function providerSignInAction(_before: ProviderState, form: FormData): Promise<ProviderState> {
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const provider = text(form, "provider");
  if (!(provider in configuredProviders())) return { error: "This server does not offer that provider." };
  const next = localPath(text(form, "next"));
  const callbackURL = next === "/" ? "/traces" : next;
  const additionalData = { remember: text(form, "remember") === "on" };
  const body = { provider, callbackURL, errorCallbackURL: "/sign-in", disableRedirect: true, additionalData };
  try {
    const { url } = await auth().api.signInSocial({ body, headers: await headers() });
    return { url };
  } catch (refused) {
    if (isAPIError(refused) && refused.statusCode === 429) return { error: refused.message };
    throw refused;
  }
}
