import "server-only";
import { prisma } from "#lib/db/client";
import { countWorkers } from "#lib/observability/sql";

export { purgeHeartbeats, sendHeartbeat, takeTurn } from "#lib/observability/sql";

export async function deleteHeartbeat(id: string): Promise<void> {
  await prisma().processHeartbeat.deleteMany({ where: { id } });
}

/** Tells whether a worker sent a heartbeat in the last 60 seconds. */
export async function hasWorker(): Promise<boolean> {
  return (await countWorkers(60)) > 0;
}

/** All processes that work for a while have this id, so that `/api/ready` and `/uploads` see them as one worker. */
export const substituteId = "00000000-0000-4000-8000-00000000c404";

/** three beats of a worker */
const missedSeconds = 30;

/** Tells whether a process runs that is only a worker. */
export async function hasLastingWorker(): Promise<boolean> {
  return (await countWorkers(missedSeconds, substituteId)) > 0;
}
