import "server-only";
import { prisma } from "#lib/db/client";
import { type SessionFolders, readPlace } from "#lib/reader/files/paths";

/** Where a trace comes from: the place of its files, as far as its metadata tells, and its machine. */
export async function readOrigin(userId: string, traceId: string): Promise<{ place: SessionFolders; machine: string | null }> {
  const where = { userId_id: { userId, id: traceId } };
  const trace = await prisma().trace.findUnique({ where, select: { metadata: true, machine: true } });
  const place = readPlace((trace?.metadata ?? null) as Record<string, unknown> | null);
  return { place, machine: trace?.machine ?? null };
}
