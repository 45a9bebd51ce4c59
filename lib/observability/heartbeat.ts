import "server-only";
import { prisma } from "#lib/db/client";
import { countWorkers } from "#lib/observability/sql";

export { purgeHeartbeats, sendHeartbeat, takeTurn } from "#lib/observability/sql";

export async function deleteHeartbeat(id: string): Promise<void> {
  await prisma().processHeartbeat.deleteMany({ where: { id } });
}

/** Returns true if a worker sent a heartbeat in the last 60 seconds. */
export async function hasWorker(): Promise<boolean> {
  return (await countWorkers(60)) > 0;
}

/** Processes that do a worker's work for a while share this id, so `/api/ready` and `/uploads` see one worker. */
export const substituteId = "00000000-0000-4000-8000-00000000c404";

const missedSeconds = 30;

/** Returns true if a dedicated worker runs, so that no other process has to do its work. */
export async function hasLastingWorker(): Promise<boolean> {
  return (await countWorkers(missedSeconds, substituteId)) > 0;
}
