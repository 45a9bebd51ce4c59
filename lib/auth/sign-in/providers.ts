import "server-only";
import { credential } from "#lib/auth/accounts";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { env } from "#lib/core/env";
import { prisma } from "#lib/db/client";

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

/** @returns false, and changes nothing, if the user could no longer sign in */
export async function disconnectProvider(userId: string, provider: Provider, from: AuditOrigin): Promise<boolean> {
  return prisma().$transaction(async (tx) => {
    // Locks the user, so that two calls can't each remove the other's last way in.
    await tx.user.updateMany({ where: { id: userId }, data: { updatedAt: new Date() } });
    const others = [credential, ...Object.keys(configuredProviders())].filter((way) => way !== provider);
    if ((await tx.account.count({ where: { userId, providerId: { in: others } } })) === 0) return false;
    const { count } = await tx.account.deleteMany({ where: { userId, providerId: provider } });
    if (count > 0) await recordEvent(tx, userId, "provider_unlinked", nameOfProvider(provider), from);
    return true;
  });
}
