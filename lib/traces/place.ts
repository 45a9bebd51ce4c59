import "server-only";
import { prisma } from "#lib/db/client";
import { readPlace, type SessionFolders } from "#lib/reader/files/paths";
import { type HiddenNames, readHiddenNames } from "#lib/traces/for-others";

/** The folder, as far as the metadata tells, and the names that are hidden from others. */
export async function readOrigin(
  userId: string,
  traceId: string,
): Promise<{ place: SessionFolders; names: HiddenNames }> {
  const where = { userId_id: { userId, id: traceId } };
  const trace = await prisma().trace.findUnique({ where, select: { metadata: true, machine: true, project: true } });
  const place = readPlace((trace?.metadata ?? null) as Record<string, unknown> | null);
  return { place, names: readHiddenNames(trace ?? { machine: null }) };
}
