import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "#lib/db/embedded";
import { migrate } from "#lib/db/migrate";
import { installQueues } from "#lib/queue/queues";
import { buildIfNeeded } from "#lib/server/build";

declare module "vitest" {
  export interface ProvidedContext {
    /** A URL of the test server's maintenance database; `freshDatabase` clones the template beside it. */
    postgresUrl: string;
  }
}

export const templateName = "spoor_template";

type Running = { url: string; stop: () => Promise<void> };
const globals = globalThis as typeof globalThis & { spoorTestPostgres?: Promise<Running>; spoorTestUsers?: number };

/** Starts one PostgreSQL for the whole run and creates the template from which every test file's database is cloned. */
async function start(): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-test-"));
  const server = await startEmbedded(folder);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`create database ${templateName}`);
  await client.end();
  const template = new URL(server.url);
  template.pathname = templateName;
  await migrate(template.href, () => installQueues(template.href));
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}

export default async function setup(project: TestProject) {
  globals.spoorTestUsers = (globals.spoorTestUsers ?? 0) + 1;
  globals.spoorTestPostgres ??= start();
  const { url, stop } = await globals.spoorTestPostgres;
  if (project.name !== "jobs") await buildIfNeeded((line) => project.vitest.logger.log(line));
  project.provide("postgresUrl", url);
  return async () => {
    globals.spoorTestUsers = (globals.spoorTestUsers ?? 1) - 1;
    if (globals.spoorTestUsers === 0) await stop();
  };
}
