// `npm run test:faults [-- NAME…] [-- --quick] [-- --seed=N] [-- --json]`: injects every fault of docs/faults.md into a
// running Spoor, and checks the outcome.
import { buildIfNeeded } from "#server/build/build";
import { Bench, type Fault } from "./fault.ts";
import { processFaults } from "./processes.ts";
import { requestFaults } from "./requests.ts";

const faults = [...requestFaults, ...processFaults];
const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("--"));
const unknown = names.find((name) => !faults.some((fault) => fault.name === name || fault.group === name));
if (unknown) {
  console.error(`Unknown fault "${unknown}". Known: requests, processes, ${faults.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
const quick = words.includes("--quick");
const seed = Number(words.find((word) => word.startsWith("--seed="))?.slice(7) ?? Date.now() % 1e6);
const wanted = faults.filter(
  ({ name, group, quick: isQuick }) =>
    (names.length === 0 || names.includes(name) || names.includes(group)) && (!quick || isQuick),
);

type Row = Pick<Fault, "name" | "title" | "group"> & {
  result: "held" | "broken" | "skipped";
  injected: string;
  outcome: string;
  seconds: number;
};

async function row(bench: Bench, { name, title, group, impossible, run }: Fault): Promise<Row> {
  const startedAt = performance.now();
  const took = () => Math.round((performance.now() - startedAt) / 100) / 10;
  const reason = await impossible?.();
  if (reason) return { name, title, group, result: "skipped", injected: "–", outcome: reason, seconds: 0 };
  try {
    return { name, title, group, result: "held", ...(await run(bench)), seconds: took() };
  } catch (error) {
    const outcome = (error as Error).stack ?? String(error);
    return { name, title, group, result: "broken", injected: "–", outcome, seconds: took() };
  }
}

const signs = { held: "✓", broken: "✗", skipped: "–" };

await buildIfNeeded((line) => process.stderr.write(`${line}\n`));
const bench = await Bench.start({ quick, seed });
const rows: Row[] = [];
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    await bench.stop(); // its processes end with this one, but PostgreSQL would not
    process.exit(130);
  });
}
try {
  for (const fault of wanted) {
    process.stderr.write(`${fault.name}…\n`);
    const done = await row(bench, fault);
    rows.push(done);
    if (!words.includes("--json")) {
      console.log(`${signs[done.result]} ${done.title}  [${done.name}, ${done.seconds} s]`);
      console.log(`    injected: ${done.injected}\n    outcome:  ${done.outcome.replaceAll("\n", "\n    ")}`);
    }
  }
} finally {
  await bench.stop();
}

const count = (result: Row["result"]) => rows.filter((one) => one.result === result).length;
if (words.includes("--json")) console.log(JSON.stringify({ seed, node: process.version, rows }, null, 2));
else console.log(`\n${count("held")} held, ${count("broken")} broken, ${count("skipped")} skipped; seed ${seed}`);
process.exit(count("broken") === 0 ? 0 : 1);
