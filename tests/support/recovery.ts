import { appendFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Has the next start of a cluster's server recover for as long as a test likes: it asks an archive for its log, and that one does
 * not answer. Afterwards the server takes what it has itself, as after a crash.
 *
 * @returns lets the recovery go on
 */
export async function holdRecovery(cluster: string): Promise<() => Promise<void>> {
  const held = join(cluster, "recovery.held");
  await writeFile(held, "");
  await writeFile(join(cluster, "recovery.signal"), "");
  const command = "while test -e recovery.held; do sleep 0.1; done; false";
  const settings = `restore_command = '${command}'\nhot_standby = off\n`; // nor does a crashed one take readers before its end
  await appendFile(join(cluster, "postgresql.auto.conf"), settings);
  return () => rm(held);
}
