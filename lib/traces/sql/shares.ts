import "server-only";
import { prisma } from "#lib/db/client";

/**
 * Deletes the share links of deleted traces.
 * SQL: a share has no relation to its trace (prisma/schema.prisma), and Prisma joins by relations only.
 */
export async function deleteSharesOfDeletedTraces(): Promise<void> {
  await prisma().$executeRaw`
    delete from trace_share share using trace
    where trace.user_id = share.user_id and trace.id = share.trace_id and trace.deleted_at is not null`;
}
