// `npm run bench [-- NAME…] [-- --json]`: the speed of ingest, compared with floors measured in the same run on the same machine.
import { loadTexts } from "./corpus.ts";
import { addEmptyRoute } from "./empty-route.ts";
import { makeFloorB } from "./floors.ts";
import { type Context, type Row, rounds } from "./measure.ts";
import { accept } from "./rows/accept.ts";
import { health, memory } from "./rows/load.ts";
import { queryable } from "./rows/queryable.ts";
import { scan } from "./rows/scan.ts";
import { latency, small } from "./rows/small.ts";
import { million, sustained } from "./rows/sustained.ts";
import { startSpoor } from "./spoor.ts";

const benches: Record<string, (context: Context) => Promise<Row[]>> = {
  accept,
  queryable,
  scan,
  sustained,
  small,
  latency,
  health,
  memory,
  million,
};

const words = process.argv.slice(2);
const wanted = words.filter((word) => !word.startsWith("--"));
const unknown = wanted.find((name) => !(name in benches));
if (unknown) throw new Error(`There is no bench "${unknown}": ${Object.keys(benches).join(", ")}`);

const { texts, real } = loadTexts();
const takeRouteAway = await addEmptyRoute();
const spoor = await startSpoor().finally(takeRouteAway);
const floorB = await makeFloorB(spoor.databaseUrl);
const rows: Row[] = [];
try {
  for (const [name, bench] of Object.entries(benches)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    process.stderr.write(`${name}…\n`);
    rows.push(...(await bench({ spoor, texts, floorB })));
  }
} finally {
  await floorB.end();
  await spoor.stop();
}

if (words.includes("--json")) {
  console.log(JSON.stringify({ text: real ? "real sessions" : "generated", rows }, null, 2));
} else {
  console.log(
    `\nOn ${real ? "real" : "generated"} text, medians of ${rounds} rounds; compare ratios, not absolute figures.\n`,
  );
  for (const { name, what, measured, compared, ratio, must, met } of rows) {
    console.log(`${met ? "✓" : "✗"} ${name.padEnd(14)} ${ratio.toFixed(2).padStart(5)} ×  must be ${must}`);
    console.log(`  ${what}: ${measured}${compared === "–" ? "" : ` against ${compared}`}`);
  }
}
process.exit(rows.every(({ met }) => met) ? 0 : 1);
