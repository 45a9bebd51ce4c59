// `npm run test:fuzz [-- --seed N] [-- --first K] [-- --count N] [-- --seconds S] [-- --case K]`: sends malformed and unusual requests to the built
// server, the same ones for the same seed. Exits with 1 on any violation: docs/fuzzing.md.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { requiredEnv, setEnv } from "#lib/core/env";
import { closeDatabase } from "#lib/db/client";
import { listenForStop } from "#server/commands/command";
import { prepareDatabase, prepareSchema } from "#server/commands/database";
import { closeClient } from "./client.ts";
import { fuzz } from "./fuzz.ts";
import { judgeHealth, judgeMemory, toTable } from "./report.ts";
import { startTarget } from "./target.ts";
import { makeWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "20261121" },
    count: { type: "string", default: "100000" },
    first: { type: "string", default: "0" },
    case: { type: "string" },
    seconds: { type: "string", default: "3600" },
    concurrency: { type: "string", default: "16" },
    keep: { type: "boolean", default: false },
  },
});
const [seed, concurrency] = [Number(values.seed), Number(values.concurrency)];
const [first, count] =
  values.case === undefined ? [Number(values.first), Number(values.count)] : [Number(values.case), 1];
const asked = listenForStop();
const say = (line: string) => console.log(line);

const folder = await mkdtemp(join(tmpdir(), "spoor-fuzz-"));
const logFile = join(folder, "server.log");
setEnv({ DATABASE_URL: undefined, DATA_DIR: folder, LOG_LEVEL: "fatal" });
const database = await prepareDatabase();
await prepareSchema();
const environment = { DATABASE_URL: requiredEnv("DATABASE_URL"), AUTH_SECRET: requiredEnv("AUTH_SECRET") };
const target = await startTarget(environment, logFile);
let failed = true;
try {
  const world = await makeWorld(target.port);
  say(`Seed ${seed}, cases ${first} to ${first + count - 1}, ${concurrency} at once.`);
  const until = AbortSignal.any([asked, AbortSignal.timeout(Number(values.seconds) * 1000)]);
  const report = await fuzz(target, world, { seed, first, count, concurrency, until, logFile, progress: say });
  say(toTable(report));
  const bounds = count >= 10_000 ? [judgeMemory(report), judgeHealth(report)] : [];
  for (const { line } of bounds) say(line);
  for (const { index, kind, what } of report.violations.slice(0, 50)) say(`✗ case ${index} (${kind}): ${what}`);
  const example = report.violations.find(({ index }) => index >= 0);
  if (example) say(`To repeat one: npm run test:fuzz -- --seed ${seed} --case ${example.index}`);
  failed = report.violations.length > 0 || bounds.some(({ met }) => !met);
  say(failed ? "Failed." : "Passed.");
} finally {
  closeClient();
  await target.stop();
  await closeDatabase();
  await database.stop();
  if (values.keep) say(`The log is ${logFile}.`);
  else await rm(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
