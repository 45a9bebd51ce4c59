import "server-only";
import { prisma } from "#lib/db/client";
import { countWorkers } from "#lib/observability/sql";

export { purgeHeartbeats, sendHeartbeat, takeTurn } from "#lib/observability/sql";

/** Deletes a worker's heartbeat when it stops, or gives a turn back. */
export async function deleteHeartbeat(id: string): Promise<void> {
  await prisma().processHeartbeat.deleteMany({ where: { id } });
}

/** Whether a worker sent a heartbeat in the last 60 seconds. */
export async function hasWorker(): Promise<boolean> {
  return (await countWorkers(60)) > 0;
}

/** The heartbeat id of all processes that do a worker's work for a while: `/api/ready` and `/uploads` see them as one worker. */
export const substituteId = "00000000-0000-4000-8000-00000000c404";

/** Three beats of a worker. */
const missedSeconds = 30;

/** Whether a process is there that does nothing but a worker's work, so that nobody has to do it instead. */
export async function hasLastingWorker(): Promise<boolean> {
  return (await countWorkers(missedSeconds, substituteId)) > 0;
}
