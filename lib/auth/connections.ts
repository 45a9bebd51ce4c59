import "server-only";
import { credential } from "#lib/auth/accounts";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { configuredProviders, nameOfProvider, type Provider } from "#lib/auth/providers";
import { prisma } from "#lib/db/client";

/**
 * Disconnects a provider, with which the user then can't sign in any more.
 *
 * @returns false where the user would have no way left to sign in; nothing changes then.
 */
export async function disconnectProvider(userId: string, provider: Provider, from: AuditOrigin): Promise<boolean> {
  return prisma().$transaction(async (tx) => {
    // Calls for one user wait for each other here, so that two at once can't take each other's last way in.
    await tx.user.updateMany({ where: { id: userId }, data: { updatedAt: new Date() } });
    const others = [credential, ...Object.keys(configuredProviders())].filter((way) => way !== provider);
    if ((await tx.account.count({ where: { userId, providerId: { in: others } } })) === 0) return false;
    const { count } = await tx.account.deleteMany({ where: { userId, providerId: provider } });
    if (count > 0) await recordEvent(tx, userId, "provider_unlinked", nameOfProvider(provider), from);
    return true;
  });
}
