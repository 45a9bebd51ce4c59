import "server-only";
import { env } from "#lib/env";

export const providerNames = { github: "GitHub", google: "Google" } as const;
export type Provider = keyof typeof providerNames;

export const nameOfProvider = (id: string) => providerNames[id as Provider] ?? id;

type Credentials = { clientId: string; clientSecret: string; disableSignUp: boolean };

/** They create accounts only where `SIGN_UP` is open. */
export function configuredProviders(): Partial<Record<Provider, Credentials>> {
  const { GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET, GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, SIGN_UP } = env();
  const disableSignUp = SIGN_UP !== "open";
  const credentials = (clientId?: string, clientSecret?: string) =>
    clientId && clientSecret ? { clientId, clientSecret, disableSignUp } : undefined;
  const all = {
    github: credentials(GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET),
    google: credentials(GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET),
  };
  return Object.fromEntries(Object.entries(all).filter(([, set]) => set !== undefined));
}
