import "server-only";
import { prisma } from "#lib/db/client";
import { countWorkers } from "#lib/observability/sql";

export { purgeHeartbeats, sendHeartbeat } from "#lib/observability/sql";

/** Deletes a worker's heartbeat, when it stops. */
export async function deleteHeartbeat(id: string): Promise<void> {
  await prisma().processHeartbeat.deleteMany({ where: { id } });
}

/** Whether a worker sent a heartbeat in the last 60 seconds. */
export async function hasWorker(): Promise<boolean> {
  return (await countWorkers()) > 0;
}
