"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { currentOrigin } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { requireUser } from "#lib/auth/guards";
import { configuredProviders, disconnectProvider, type Provider } from "#lib/auth/sign-in/providers";
import type { FormState } from "../../components/forms/form";
import { refuseForeignOrigin, text } from "../../components/forms/form-guard";
import { refuseUnproved } from "./proof";

export type ConnectionState = FormState & { url?: string | undefined };

/** Needs proof, since a provider's sign-in needs no password here. */
export async function changeProviderAction(_before: ConnectionState, form: FormData): Promise<ConnectionState> {
  const user = await requireUser("/settings");
  const error = await refuseForeignOrigin();
  if (error) return { error };
  const provider = text(form, "connect") || text(form, "disconnect");
  if (!isConfigured(provider)) return { error: "This server does not offer that provider." };
  const refusal = await refuseUnproved(user, form);
  if (refusal) return refusal;
  if (form.has("connect")) return { url: await startToConnect(provider) };
  if (!(await disconnectProvider(user.id, provider, await currentOrigin()))) return { error: lastWayIn };
  redirect("/settings?changed=provider#providers");
}

const lastWayIn =
  "Not disconnected, because you could no longer sign in. Ask the person who runs the server for a password.";

const isConfigured = (provider: string): provider is Provider => Object.hasOwn(configuredProviders(), provider);

async function startToConnect(provider: Provider): Promise<string | undefined> {
  const body = { provider, callbackURL: "/settings", errorCallbackURL: "/settings", disableRedirect: true };
  return (await auth().api.linkSocialAccount({ body, headers: await headers() })).url;
}
