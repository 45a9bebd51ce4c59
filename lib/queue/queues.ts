import "server-only";
import { PgBoss } from "pg-boss";
import { log } from "#lib/core/log";
import { withRequiredAuth } from "#lib/db/required-auth";

/** Payloads contain only ids of rows. */
export const queues = { ingest: "ingest", ingestDead: "ingest-dead" } as const;

export type QueueName = (typeof queues)[keyof typeof queues];

/** Without a heartbeat, an entry goes to another worker. */
export const heartbeatSeconds = 10;

const policies = [
  // The handler of `ingest-dead` marks the job of an entry without retries as failed.
  [queues.ingestDead, { retryLimit: 10, retryBackoff: true, retryDelayMax: 60 }],
  [
    queues.ingest,
    {
      notify: true,
      deadLetter: queues.ingestDead,
      // Attempts are counted in the job's row, so that an outage of the database uses up none.
      retryLimit: 10_000,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 60,
      heartbeatSeconds,
      expireInSeconds: 3600,
      retentionSeconds: 365 * 86_400,
      deleteAfterSeconds: 86_400,
    },
  ],
] as const;

export async function installQueues(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({
    connectionString: withRequiredAuth(databaseUrl),
    max: 2,
    supervise: false,
    schedule: false,
  });
  boss.on("error", (error) => log.error({ err: error }, "pg-boss reported an error during installation"));
  await boss.start();
  try {
    for (const [name, options] of policies) {
      await boss.createQueue(name, options);
      await boss.updateQueue(name, options);
    }
    await boss.deleteQueue("housekeeping"); // of Spoor 0.2
  } finally {
    await boss.stop({ graceful: false });
  }
}
