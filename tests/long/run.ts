// `npm run test:long [-- STEP…]`: everything that `npm test` leaves out because it takes long or measures time. Each step runs,
// also after one that failed.
import { spawn } from "node:child_process";
import { once } from "node:events";

const script = (name: string, ...words: string[]) => ["npm", "run", "--silent", name, ...words];

const steps: Record<string, string[]> = {
  // All projects once more, with the tests that are skipped in `npm test`, and then `attacks`, `deploy`, `faults` and `long`.
  tests: ["node_modules/.bin/vitest", "run"],
  faults: script("test:faults"),
  fuzz: script("test:fuzz", "--", "--count", "10000"),
  agents: script("test:agents"),
  resume: script("test:resume"),
  upgrade: script("test:upgrade"),
  image: script("test:image"),
  growth: script("test:growth"),
  release: script("release", "--", "--check"),
};

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !(name in steps));
if (unknown) {
  process.stderr.write(`Unknown step "${unknown}". Known: ${Object.keys(steps).join(", ")}\n`);
  process.exit(2);
}

const failed: string[] = [];
for (const [name, [program = "", ...words]] of Object.entries(steps)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const startedAt = performance.now();
  process.stdout.write(`\n== ${name}\n`);
  const child = spawn(program, words, { stdio: "inherit", env: { ...process.env, LONG_TESTS: "on" } });
  const [code] = await once(child, "exit");
  if (code !== 0) failed.push(name);
  process.stdout.write(`== ${name} ${code === 0 ? "passed" : "failed"} in ${seconds(startedAt)} s\n`);
}
if (failed.length > 0) process.stderr.write(`Failed: ${failed.join(", ")}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1000);
}
