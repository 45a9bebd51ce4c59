import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { makeBody, makeTraces } from "../corpus.ts";
import { boundRow, type Context, key, MiB, percentile, type Row, sendPatiently, showMs } from "../measure.ts";

/** A body of about `size` megabytes. */
const bodyOfMiB = ({ texts }: Context, size: number) =>
  makeBody(makeTraces(texts, key(), 1000, Math.round((size * MiB) / 925_000)));

const getSize = (body: Buffer) => `${Math.round(body.length / MiB)} MiB`;

/** The latency of other requests while a large body is accepted. It is sent compressed, because bytes on the wire have a separate limit. */
export async function health(context: Context): Promise<Row[]> {
  const { spoor } = context;
  const idle = await pingWhile(spoor.url, sleep(2000));
  const times: number[] = [];
  let size = "";
  for (let round = 0; round < 3; round += 1) {
    const body = bodyOfMiB(context, 100);
    size = getSize(body);
    const packed = gzipSync(body, { level: 1 });
    const sent = fetch(`${spoor.url}/api/ingest`, {
      method: "POST",
      headers: { ...spoor.headers, "Content-Encoding": "gzip" },
      body: packed,
    });
    times.push(...(await pingWhile(spoor.url, sent)));
    const response = await sent;
    if (response.status !== 202) throw new Error(`ingest answered ${response.status}`);
    await response.text();
    await spoor.drained();
  }
  const what = `/api/health while a body of ${size} is accepted, p99 (beside it: idle)`;
  return [boundRow("health", what, percentile(times, 0.99), 100, showMs, showMs(percentile(idle, 0.99)))];
}

/** Requests `/api/health` until `work` has ended. @returns the latencies in milliseconds */
async function pingWhile(url: string, happening: Promise<unknown>): Promise<number[]> {
  let waiting = true;
  happening.finally(() => {
    waiting = false;
  });
  const times: number[] = [];
  while (waiting) {
    const startedAt = performance.now();
    await (await fetch(`${url}/api/health`)).text();
    times.push(performance.now() - startedAt);
    await sleep(2);
  }
  return times;
}

/** The peak resident memory of both processes during eight large uploads at once. */
export async function memory(context: Context): Promise<Row[]> {
  const { spoor } = context;
  const bodies = Array.from({ length: 8 }, () => bodyOfMiB(context, 60));
  const peak = { web: 0, worker: 0 };
  const sampler = setInterval(() => {
    const { web, worker } = spoor.memory();
    peak.web = Math.max(peak.web, web);
    peak.worker = Math.max(peak.worker, worker);
  }, 50);
  await Promise.all(bodies.map((body) => sendPatiently(spoor, body)));
  await spoor.drained();
  clearInterval(sampler);
  const size = `8 × ${getSize(bodies[0] ?? Buffer.alloc(0))} at once`;
  const show = (value: number) => `${Math.round(value / MiB)} MiB`;
  return [
    boundRow("memory web", `peak of the web process, ${size}`, peak.web, 1.2 * 1024 * MiB, show),
    boundRow("memory worker", `peak of the worker, ${size}`, peak.worker, 1024 * MiB, show),
  ];
}
