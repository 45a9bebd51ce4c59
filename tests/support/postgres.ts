import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { migrate } from "#lib/db/migrate";
import { distribute } from "#lib/db/sql/distribute";
import { installQueues } from "#lib/queue/queues";
import { buildIfNeeded, buildProgramsIfNeeded } from "#server/build/build";
import { closeToAll, makeClusterDatabase, makeUrl, readNodes, run } from "./nodes.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A URL of the test server's maintenance database. */
    postgresUrl: string;
    /** The same for each node of a cluster, coordinator first; a single server is the only entry. */
    nodes: string[];
  }
}

export const templateName = "spoor_template";

type Running = { nodes: string[]; stop: () => Promise<void> };
const globals = globalThis as typeof globalThis & { spoorTestPostgres?: Promise<Running>; spoorTestUsers?: number };

/**
 * Starts one PostgreSQL for the run, or uses the cluster of CITUS_DATABASE_URL, and creates the template for every test
 * file's database.
 */
async function start(): Promise<Running> {
  const coordinator = process.env.CITUS_DATABASE_URL;
  if (coordinator) {
    const nodes = await readNodes(coordinator);
    await makeDistributedTemplate(nodes);
    return { nodes, stop: async () => {} };
  }
  const folder = await mkdtemp(join(tmpdir(), "spoor-test-"));
  const server = await startEmbedded(folder, { tcp: true }); // proxies of tests need a port
  // No test needs crash safety of the system, and creating or dropping a database would wait for the disk.
  await run(
    server.url,
    "alter system set fsync = off",
    "alter system set full_page_writes = off",
    "alter system set autovacuum = off", // autovacuum could interrupt a test
    "select pg_reload_conf()",
  );
  await run(server.url, `create database ${templateName}`);
  const template = makeUrl(server.url, templateName);
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
  // A database can only be cloned without connections, and the extension's process has one.
  for (const node of nodes) await closeToAll(node, templateName);
}

export default async function setup(project: TestProject) {
  globals.spoorTestUsers = (globals.spoorTestUsers ?? 0) + 1;
  globals.spoorTestPostgres ??= start();
  const { nodes, stop } = await globals.spoorTestPostgres;
  // `jobs` start no more than a worker, which does not need Next.
  if (project.name === "jobs") await buildProgramsIfNeeded();
  else await buildIfNeeded((line) => project.vitest.logger.log(line));
  project.provide("postgresUrl", nodes[0] ?? "");
  project.provide("nodes", nodes);
  return async () => {
    globals.spoorTestUsers = (globals.spoorTestUsers ?? 1) - 1;
    if (globals.spoorTestUsers === 0) await stop();
  };
}
