import "server-only";
import { env } from "#lib/env";

/** The sign-in providers that Spoor knows, with their display names. */
export const providerNames = { github: "GitHub", google: "Google" } as const;
export type Provider = keyof typeof providerNames;

/** The display name of a provider, or its id where it has none. */
export const nameOfProvider = (id: string) => providerNames[id as Provider] ?? id;

type Credentials = { clientId: string; clientSecret: string; disableSignUp: boolean };

/** The providers whose id and secret the operator set. They create new accounts only where `SIGN_UP` is open. */
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
