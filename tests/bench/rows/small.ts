import { boundRow, type Context, percentile, type Row, ratioRow, showMs, smallBody } from "../measure.ts";

const requests = 3000;
const connections = 16;
/** About as much JSON as the route takes. */
const refused = JSON.stringify({ machine: "", more: "x".repeat(3900) });

/** Small uploads in parallel, beside requests to a route that reads its JSON and refuses it at once. */
export async function small(context: Context): Promise<Row[]> {
  const { spoor } = context;
  const headers = { "Content-Type": "application/json" };
  const empty = async () => {
    const response = await fetch(`${spoor.url}/api/cli/device/start`, {
      method: "POST",
      headers,
      body: refused,
    });
    await response.text();
    if (response.status !== 400) throw new Error(`the empty route answered ${response.status}`);
  };
  const bodies = () => Array.from({ length: requests }, () => smallBody(context));
  const send = (body: Buffer<ArrayBuffer>) => spoor.send(body);
  const nothing = Array.from({ length: requests }, () => undefined);
  await rate(nothing, empty);
  await rate(bodies(), send);
  await spoor.drained();
  const floor = await rate(nothing, empty);
  const own = await rate(bodies(), send);
  await spoor.drained();
  const show = (value: number) => `${Math.round(value)} requests/s`;
  const what = `1 × 10 on ${connections} connections, against a route that reads JSON and refuses it`;
  return [ratioRow("small", what, [own, floor], show, { least: 0.5 })];
}

/** @returns requests a second */
async function rate<T>(inputs: T[], send: (input: T) => Promise<unknown>): Promise<number> {
  const left = inputs.values();
  const connection = async () => {
    for (const input of left) await send(input);
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, connection));
  return (inputs.length * 1000) / (performance.now() - startedAt);
}

/** How long after its 202 a small upload can be read. */
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
