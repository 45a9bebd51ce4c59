import "server-only";
import { prisma } from "#lib/db/client";
import { type Place, placeOf } from "#lib/reader/files/paths";

/** Where the files of a trace are, as far as its metadata tells. */
export async function readPlace(userId: string, traceId: string): Promise<Place> {
  const where = { userId_id: { userId, id: traceId } };
  const trace = await prisma().trace.findUnique({ where, select: { metadata: true } });
  return placeOf((trace?.metadata ?? null) as Record<string, unknown> | null);
}
