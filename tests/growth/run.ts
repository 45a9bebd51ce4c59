// `npm run test:growth [-- FILE…]`: the tests of jobs and of the API, and a storm of kills, on a distributed database.
// CITUS_DATABASE_URL names the coordinator of a cluster of your own, whose user may create databases on every node; otherwise
// three nodes are started here.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { findCitus, startCluster } from "./cluster.ts";

/** Unless files or projects are named. */
const usual = ["--project", "jobs", "--project", "api", "--project", "growth"];

async function runTests(environment: Record<string, string>): Promise<number> {
  const files = process.argv.slice(2);
  const words = ["node_modules/vitest/vitest.mjs", "run", ...(files.length > 0 ? files : usual)];
  const child = spawn(process.execPath, words, { stdio: "inherit", env: { ...process.env, ...environment } });
  const [code] = await once(child, "exit");
  return code ?? 1;
}

const own = process.env.CITUS_DATABASE_URL;
const bin = own ? undefined : await findCitus();
if (own) process.exitCode = await runTests({});
else if (!bin) {
  process.stdout.write("Skipped: no PostgreSQL here has the extension citus, and CITUS_DATABASE_URL is not set.\n");
} else {
  const cluster = await startCluster(bin);
  const stop = () => cluster.stop().then(() => process.exit(130));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    const killable = JSON.stringify(cluster.nodes.at(-1));
    process.exitCode = await runTests({ CITUS_DATABASE_URL: cluster.url, SPOOR_KILLABLE_NODE: killable });
  } finally {
    await cluster.stop();
  }
}
