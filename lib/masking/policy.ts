import "server-only";
import { prisma } from "#lib/db/client";
import { markKeyOf } from "#lib/masking/key";
import type { Policy, Ruling } from "#lib/masking/masker";
import { rulesVersion } from "#lib/secrets/version";

/** What is masked in a user's sessions. Until a user decides something, all that is certain. */
export async function readPolicy(userId: string): Promise<Policy> {
  const stored = await prisma().secretPolicy.findUnique({ where: { userId } });
  const { masks = true, version = 0 } = stored ?? {};
  const rulings = version === 0 ? [] : await readRulings(userId);
  return { stamp: `${rulesVersion}.${version}`, key: markKeyOf(userId), masks, rulings };
}

async function readRulings(userId: string): Promise<Ruling[]> {
  const rows = await prisma().secretRuling.findMany({ where: { userId }, orderBy: { createdAt: "asc" } });
  return rows.map(({ kind, mark, verdict, source, sourceId }) => ({
    kind,
    mark,
    verdict: verdict === "keep" ? "keep" : "mask",
    ...(source !== null && sourceId !== null && { source, sourceId }),
  }));
}
