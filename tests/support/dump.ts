// Backs up a database as docs/operations.md says: `pg_dump` while it is in use, restored on another server.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { setEnv } from "#lib/core/env";
import { closeDatabase } from "#lib/db/client";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { migrate } from "#lib/db/migrate";
import { installQueues } from "#lib/queue/queues";
import { testEnvironment } from "./database.ts";
import { isDistributed, makeUrl, run } from "./nodes.ts";

const execute = promisify(execFile);

/** Debian's package `postgresql-15`, whose `pg_dump` can't read the newer embedded server. */
export const otherBin = "/usr/lib/postgresql/15/bin";

/** False if databases of this run can't be dumped. */
export const canDump = !isDistributed && existsSync(`${otherBin}/pg_dump`);

/** Like `freshDatabase`, on a separate server that can be dumped. */
export async function startDumped(): Promise<{ url: string; drop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-dumped-"));
  const server = await startEmbedded(folder, { programs: otherBin });
  await migrate(server.url, () => installQueues(server.url));
  setEnv({ ...testEnvironment, DATABASE_URL: server.url });
  return {
    url: server.url,
    drop: async () => {
      await closeDatabase();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Removes a parameter that these programs do not know. */
const forPrograms = (url: string) => url.replace("?require_auth=scram-sha-256", "");

/** Dumps a database. @returns the file's path and its content as SQL */
export async function dump(url: string): Promise<{ path: string; text: string }> {
  const path = join(await mkdtemp(join(tmpdir(), "spoor-dump-")), "spoor.dump");
  await execute(`${otherBin}/pg_dump`, [
    "--format=custom",
    "--exclude-schema=pgboss",
    `--file=${path}`,
    forPrograms(url),
  ]);
  const { stdout } = await execute(`${otherBin}/pg_restore`, ["--file=-", path], { maxBuffer: 1 << 30 });
  return { path, text: stdout };
}

/** Restores a dump into a new database of the test run's own server. @returns its URL */
export async function restore(path: string, name: string): Promise<string> {
  const server = inject("postgresUrl");
  await run(server, `create database ${name}`);
  const url = makeUrl(server, name);
  await execute(`${otherBin}/pg_restore`, ["--no-owner", "--exit-on-error", `--dbname=${forPrograms(url)}`, path]);
  await migrate(url, () => installQueues(url));
  return url;
}
