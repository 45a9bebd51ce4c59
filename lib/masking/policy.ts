import "server-only";
import { createHmac } from "node:crypto";
import { rulesVersion } from "#common/secrets/kinds";
import { requiredEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import type { MaskingPolicy } from "#lib/masking/masker";
import { readRulings } from "#lib/masking/sql";
import type { ProjectAlias } from "#lib/transcript/project";

export const isMasking = ({ masks, masksAgainAt }: { masks: boolean; masksAgainAt: Date | null }, now: Date): boolean =>
  masks || (masksAgainAt !== null && masksAgainAt <= now);

export const unmaskedProjects = (userId: string, now: Date) => ({
  ...{ userId, masks: false, mergedInto: null },
  OR: [{ masksAgainAt: null }, { masksAgainAt: { gt: now } }],
});

/** Until a user decides something, all certain secrets are masked. @param machine that sent the sessions */
export async function readPolicy(userId: string, machine?: string, now = new Date()): Promise<MaskingPolicy> {
  const stored = await prisma().secretPolicy.findUnique({ where: { userId } });
  const { version = 0 } = stored ?? {};
  const masks = !stored || isMasking(stored, now);
  const [rulings, unmasked] =
    version === 0 ? [[], []] : await Promise.all([readRulings(userId), readUnmasked(userId, now)]);
  // A stop that ends by itself changes the policy, too.
  const stops = masks && unmasked.length === 0 ? "" : `-${masks ? unmasked.length : "all"}`;
  const stamp = `${rulesVersion}.${version}${stops}`;
  return { stamp, key: makeMarkKey(userId), masks, rulings, unmasked, ...(machine !== undefined && { machine }) };
}

async function readUnmasked(userId: string, now: Date): Promise<ProjectAlias[]> {
  const aliases = await prisma().projectAlias.findMany({
    where: { userId, project: unmaskedProjects(userId, now) },
    select: { kind: true, machine: true, value: true },
    take: limits.traces.secretRulings,
  });
  return aliases as ProjectAlias[];
}

/** In a ruling for all traces, this is the trace's id. */
export const everywhere = "00000000-0000-0000-0000-000000000000";

/**
 * A copy, since it is passed to threads. Another `AUTH_SECRET` changes all marks, and forgets decisions on single
 * secrets.
 */
export const makeMarkKey = (userId: string): Uint8Array =>
  new Uint8Array(createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`secrets:${userId}`).digest());
