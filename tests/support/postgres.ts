import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { migrate } from "#lib/db/migrate";
import { distribute } from "#lib/db/sql/distribute";
import { installQueues } from "#lib/queue/queues";
import { buildIfNeeded, buildProgramsIfNeeded } from "#server/build/build";
import { closeToAll, makeClusterDatabase, nodesOf, run, urlOf } from "./nodes.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A URL of the test server's maintenance database; `freshDatabase` clones the template beside it. */
    postgresUrl: string;
    /** The same of each node of a cluster, its coordinator first; of one server only that. */
    nodes: string[];
  }
}

export const templateName = "spoor_template";

type Running = { nodes: string[]; stop: () => Promise<void> };
const globals = globalThis as typeof globalThis & { spoorTestPostgres?: Promise<Running>; spoorTestUsers?: number };

/**
 * Starts one PostgreSQL for the whole run, or takes the cluster of CITUS_DATABASE_URL, and creates the template from which
 * every test file's database is cloned.
 */
async function start(): Promise<Running> {
  const coordinator = process.env.CITUS_DATABASE_URL;
  if (coordinator) {
    const nodes = await nodesOf(coordinator);
    await makeDistributedTemplate(nodes);
    return { nodes, stop: async () => {} };
  }
  const folder = await mkdtemp(join(tmpdir(), "spoor-test-"));
  const server = await startEmbedded(folder, { tcp: true }); // proxies of tests stand before a port
  // What the system itself loses is not tested here, and every database that is made or dropped would wait for the disk.
  await run(
    server.url,
    "alter system set fsync = off",
    "alter system set full_page_writes = off",
    "alter system set autovacuum = off", // it would come in the middle of some test
    "select pg_reload_conf()",
  );
  await run(server.url, `create database ${templateName}`);
  const template = urlOf(server.url, templateName);
  await migrate(template, () => installQueues(template));
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { nodes: [server.url], stop };
}

async function makeDistributedTemplate(nodes: string[]): Promise<void> {
  const [template] = await makeClusterDatabase(nodes, templateName);
  await migrate(template, () => installQueues(template));
  await distribute(template, () => {});
  // A database is only cloned while nobody is connected to it, and the extension's own process is.
  for (const node of nodes) await closeToAll(node, templateName);
}

export default async function setup(project: TestProject) {
  globals.spoorTestUsers = (globals.spoorTestUsers ?? 0) + 1;
  globals.spoorTestPostgres ??= start();
  const { nodes, stop } = await globals.spoorTestPostgres;
  // What `jobs` starts of processes is a worker at most, which needs no Next.
  if (project.name === "jobs") await buildProgramsIfNeeded();
  else await buildIfNeeded((line) => project.vitest.logger.log(line));
  project.provide("postgresUrl", nodes[0] ?? "");
  project.provide("nodes", nodes);
  return async () => {
    globals.spoorTestUsers = (globals.spoorTestUsers ?? 1) - 1;
    if (globals.spoorTestUsers === 0) await stop();
  };
}
