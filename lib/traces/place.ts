import "server-only";
import { prisma } from "#lib/db/client";
import { readPlace, type SessionFolders } from "#lib/reader/files/paths";

/** The folder, as far as the metadata tells, and the machine. */
export async function readOrigin(
  userId: string,
  traceId: string,
): Promise<{ place: SessionFolders; machine: string | null }> {
  const where = { userId_id: { userId, id: traceId } };
  const trace = await prisma().trace.findUnique({ where, select: { metadata: true, machine: true } });
  const place = readPlace((trace?.metadata ?? null) as Record<string, unknown> | null);
  return { place, machine: trace?.machine ?? null };
}
