import { boundRow, type Context, median, percentile, type Row, ratioRow, showMs, smallBody } from "../measure.ts";

const requests = 2000;
const smallRounds = 3;
const connections = 16;

/** Small uploads in parallel, compared with requests of the same size to an empty route of the same server. */
export async function small(context: Context): Promise<Row[]> {
  const { spoor } = context;
  const bodies = () => Array.from({ length: requests }, () => smallBody(context));
  const empty = async (body: Buffer<ArrayBuffer>) => {
    const response = await fetch(`${spoor.url}/api/bench`, { method: "POST", headers: spoor.headers, body });
    await response.text();
    if (response.status !== 200) throw new Error(`the empty route answered ${response.status}`);
  };
  const [owns, floors]: [number[], number[]] = [[], []];
  for (let round = 0; round <= smallRounds; round += 1) {
    const floor = await rate(bodies(), empty);
    const own = await rate(bodies(), (body) => spoor.send(body));
    await spoor.drained();
    if (round === 0) continue;
    floors.push(floor);
    owns.push(own);
  }
  const show = (value: number) => `${Math.round(value)} requests/s`;
  const what = `1 × 10 on ${connections} connections, against an empty route that reads the same JSON`;
  return [ratioRow("small", what, [median(owns), median(floors)], show, { min: 0.5 })];
}

/** @returns requests per second */
async function rate<T>(inputs: T[], send: (input: T) => Promise<unknown>): Promise<number> {
  const left = inputs.values();
  const connection = async () => {
    for (const input of left) await send(input);
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, connection));
  return (inputs.length * 1000) / (performance.now() - startedAt);
}

/** How long it takes from the 202 of a small upload until it can be read. */
export async function latency(context: Context): Promise<Row[]> {
  const { spoor } = context;
  const times: number[] = [];
  for (let n = 0; n < 200; n += 1) {
    const { jobId } = await spoor.send(smallBody(context));
    const startedAt = performance.now();
    await spoor.end(jobId);
    times.push(performance.now() - startedAt);
  }
  return [boundRow("latency", "small upload, accepted to readable, p95", percentile(times, 0.95), 300, showMs)];
}
