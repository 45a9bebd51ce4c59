import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Keeps the next start of a cluster's server in recovery, waiting for an archive that does not answer. Afterwards the
 * server recovers from its own log, as after a crash.
 *
 * @returns a function that lets the recovery continue
 */
export async function holdRecovery(cluster: string): Promise<() => Promise<void>> {
  const held = join(cluster, "recovery.held");
  await writeFile(held, "");
  await writeFile(join(cluster, "recovery.signal"), "");
  const command = "while test -e recovery.held; do sleep 0.1; done; false";
  const settings = `restore_command = '${command}'\nhot_standby = off\n`; // a crashed server accepts no readers before its recovery ends either
  await appendFile(join(cluster, "postgresql.auto.conf"), settings);
  return () => rm(held);
}
