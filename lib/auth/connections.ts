import "server-only";
import { credential } from "#lib/auth/accounts";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { configuredProviders, nameOfProvider, type Provider } from "#lib/auth/providers";
import { prisma } from "#lib/db/client";

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
