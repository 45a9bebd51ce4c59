// `npm run bench [-- NAME] [-- --json]`: how fast ingest is, against floors measured in the same run on the same machine.
import { bodyOf, loadTexts, makeTraces } from "./corpus.ts";
import { makeFloorB, startFloorA } from "./floors.ts";
import { type Spoor, startSpoor } from "./spoor.ts";

type Row = {
  name: string;
  what: string;
  measured: string;
  compared: string;
  ratio: number;
  must: string;
  met: boolean;
};
type Context = { spoor: Spoor; texts: string[]; floorB: Awaited<ReturnType<typeof makeFloorB>> };

const rounds = 5;
const traceCount = 1000;
const messagesEach = 20;
let serial = 0;
const key = () => `${process.pid}-${++serial}`;
const batch = ({ texts }: Context) => makeTraces(texts, key(), traceCount, messagesEach);
const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const percentile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
const ms = (value: number) => `${Math.round(value)} ms`;
const MiB = 2 ** 20;

function row(
  name: string,
  what: string,
  own: number,
  floor: number,
  show: (value: number) => string,
  most?: number,
  least?: number,
): Row {
  const ratio = own / floor;
  const met = (most === undefined || ratio <= most) && (least === undefined || ratio >= least);
  const must = most === undefined ? `≥ ${least} ×` : `≤ ${most} ×`;
  return { name, what, measured: show(own), compared: show(floor), ratio, must, met };
}

const bound = (name: string, what: string, value: number, most: number, show: (value: number) => string): Row => ({
  name,
  what,
  measured: show(value),
  compared: "–",
  ratio: value / most,
  must: `≤ ${show(most)}`,
  met: value <= most,
});

const benches: Record<string, (context: Context) => Promise<Row[]>> = {
  async accept(context) {
    const { spoor } = context;
    const floor = await startFloorA(spoor.databaseUrl);
    const [own, floors]: number[][] = [[], []];
    for (let round = 0; round <= rounds; round += 1) {
      const body = bodyOf(batch(context));
      const startedAt = performance.now();
      await (await fetch(floor.url, { method: "POST", body })).text();
      const floorMs = performance.now() - startedAt;
      const { jobId, acceptMs } = await spoor.send(body);
      await spoor.end(jobId);
      if (round === 0) continue; // warms both
      own?.push(acceptMs);
      floors?.push(floorMs);
    }
    floor.stop();
    return [
      row(
        "accept",
        "1000 × 20 to the committed 202, against floor A",
        median(own ?? []),
        median(floors ?? []),
        ms,
        1.3,
      ),
    ];
  },

  async queryable(context) {
    const { spoor, floorB } = context;
    const times = { first: [], floor: [], again: [], grown: [] } as Record<
      "first" | "floor" | "again" | "grown",
      number[]
    >;
    const timed = async (body: Buffer<ArrayBuffer>) => {
      const startedAt = performance.now();
      const { jobId } = await spoor.send(body);
      await spoor.end(jobId);
      return performance.now() - startedAt;
    };
    for (let round = 0; round <= rounds; round += 1) {
      const traces = batch(context);
      const floor = await floorB.copy(spoor.userId, traces);
      const first = await timed(bodyOf(traces));
      const again = await timed(bodyOf(traces));
      const more = (trace: (typeof traces)[number]) => {
        const last = trace.messages.at(-1);
        return last ? [...trace.messages, { ...last, position: messagesEach, content: "one more" }] : [];
      };
      const grown = await timed(bodyOf(traces.map((trace) => ({ ...trace, messages: more(trace) }))));
      if (round === 0) continue; // warms all
      for (const [name, value] of Object.entries({ first, floor, again, grown }))
        times[name as keyof typeof times].push(value);
    }
    const [first, floor, again, grown] = [times.first, times.floor, times.again, times.grown].map(median);
    return [
      row("queryable", "the batch from first byte to rows, against COPY (floor B)", first ?? 0, floor ?? 1, ms, 2.0),
      row("re-send", "the same batch again, against the first time", again ?? 0, first ?? 1, ms, 0.35),
      row("grown", "each trace with one more message, against the first time", grown ?? 0, first ?? 1, ms, 0.5),
    ];
  },

  async sustained(context) {
    const seconds = 60;
    const { spoor, floorB } = context;
    const floorTimes = [];
    for (let round = 0; round < 3; round += 1) floorTimes.push(await floorB.copy(spoor.userId, batch(context)));
    const perBatch = traceCount * messagesEach;
    const floor = (perBatch / median(floorTimes)) * 1000;
    const own = await sustain(context, seconds);
    const rate = (value: number) => `${Math.round(value)} messages/s`;
    return [
      row(
        "sustained",
        `4 clients for ${seconds} s until the queue is empty, against floor B`,
        own,
        floor,
        rate,
        undefined,
        0.5,
      ),
    ];
  },

  async small(context) {
    const { spoor, texts } = context;
    const requests = 1000;
    const rate = async (send: () => Promise<unknown>) => {
      let left = requests;
      const startedAt = performance.now();
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          while (left-- > 0) await send();
        }),
      ); // prettier-ignore
      return (requests / (performance.now() - startedAt)) * 1000;
    };
    const sendSmall = () => spoor.send(bodyOf(makeTraces(texts, key(), 1, 10)));
    const body = JSON.stringify({ machine: "" });
    const empty = async () => {
      const headers = { "Content-Type": "application/json" };
      await (await fetch(`${spoor.url}/api/cli/device/start`, { method: "POST", headers, body })).text();
    };
    await rate(empty);
    const floor = await rate(empty);
    const own = await rate(sendSmall);
    await spoor.drained();
    const show = (value: number) => `${Math.round(value)} requests/s`;
    return [
      row(
        "small",
        "1 × 10 on 16 connections, against a route that reads JSON and refuses it",
        own,
        floor,
        show,
        undefined,
        0.5,
      ),
    ];
  },

  async latency(context) {
    const { spoor, texts } = context;
    const times = [];
    for (let n = 0; n < 200; n += 1) {
      const { jobId } = await spoor.send(bodyOf(makeTraces(texts, key(), 1, 10)));
      const startedAt = performance.now();
      await spoor.end(jobId);
      times.push(performance.now() - startedAt);
    }
    return [bound("latency", "small upload, accepted to readable, p95", percentile(times, 0.95), 300, ms)];
  },

  async health(context) {
    const { spoor, texts } = context;
    const body = bodyOf(makeTraces(texts, key(), 1000, Math.ceil((60 * MiB) / 1000 / 1000)));
    let busy = true;
    const times: number[] = [];
    const watch = (async () => {
      while (busy) {
        const startedAt = performance.now();
        await (await fetch(`${spoor.url}/api/health`)).text();
        times.push(performance.now() - startedAt);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    const { jobId } = await spoor.send(body);
    busy = false;
    await watch;
    await spoor.end(jobId);
    const size = `${Math.round(body.length / MiB)} MiB`;
    return [bound("health", `/api/health while a body of ${size} is accepted, p99`, percentile(times, 0.99), 100, ms)];
  },

  async memory(context) {
    const { spoor, texts } = context;
    const bodies = Array.from({ length: 8 }, () => bodyOf(makeTraces(texts, key(), 1000, 60)));
    const peak = { web: 0, worker: 0 };
    const sampler = setInterval(() => {
      const { web, worker } = spoor.memory();
      peak.web = Math.max(peak.web, web);
      peak.worker = Math.max(peak.worker, worker);
    }, 100);
    await Promise.all(bodies.map((body) => sendPatiently(spoor, body)));
    await spoor.drained();
    clearInterval(sampler);
    const size = `8 × ${Math.round((bodies[0]?.length ?? 0) / MiB)} MiB at once`;
    const show = (value: number) => `${Math.round(value / MiB)} MiB`;
    return [
      bound("memory web", `peak of the web process, ${size}`, peak.web, 1.2 * 1024 * MiB, show),
      bound("memory worker", `peak of the worker, ${size}`, peak.worker, 1024 * MiB, show),
    ];
  },

  async million(context) {
    const seconds = 20;
    await context.spoor.clear();
    const empty = await sustain(context, seconds);
    const stored = async () => (await messageCount(context)) >= 1_000_000;
    while (!(await stored())) await sustain(context, 10);
    const full = await sustain(context, seconds);
    const rate = (value: number) => `${Math.round(value)} messages/s`;
    return [
      row(
        "million",
        "sustained rate with 1 M messages stored, against an empty database",
        full,
        empty,
        rate,
        undefined,
        0.85,
      ),
    ];
  },
};

async function messageCount({ spoor }: Context): Promise<number> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: spoor.databaseUrl });
  await client.connect();
  const { rows } = await client.query("select count(*)::int as count from message");
  await client.end();
  return rows[0].count;
}

/** Sends again where the server says that it is full, as a client does. */
async function sendPatiently(spoor: Spoor, body: Buffer<ArrayBuffer>): Promise<void> {
  for (;;) {
    const response = await fetch(`${spoor.url}/api/ingest`, { method: "POST", headers: spoor.headers, body });
    await response.text();
    if (response.status === 202) return;
    if (response.status !== 503) throw new Error(`ingest answered ${response.status}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Four clients send batches for some seconds. @returns messages a second until the queue is empty */
async function sustain(context: Context, seconds: number): Promise<number> {
  const { spoor } = context;
  const startedAt = performance.now();
  let batches = 0;
  const client = async () => {
    while (performance.now() - startedAt < seconds * 1000) {
      await sendPatiently(spoor, bodyOf(batch(context)));
      batches += 1;
    }
  };
  await Promise.all([client(), client(), client(), client()]);
  await spoor.drained();
  return (batches * traceCount * messagesEach * 1000) / (performance.now() - startedAt);
}

const words = process.argv.slice(2);
const wanted = words.filter((word) => !word.startsWith("--"));
const unknown = wanted.find((name) => !(name in benches));
if (unknown) throw new Error(`There is no bench "${unknown}": ${Object.keys(benches).join(", ")}`);

const { texts, real } = loadTexts();
const spoor = await startSpoor();
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
  console.log(JSON.stringify({ text: real ? "real sessions" : "made up", rows }, null, 2));
} else {
  console.log(`\nOn ${real ? "real" : "made-up"} text, medians of ${rounds} rounds; ratios are what counts.\n`);
  for (const { name, what, measured, compared, ratio, must, met } of rows) {
    console.log(`${met ? "✓" : "✗"} ${name.padEnd(14)} ${ratio.toFixed(2).padStart(5)} ×  must be ${must}`);
    console.log(`  ${what}: ${measured}${compared === "–" ? "" : ` against ${compared}`}`);
  }
}
process.exit(rows.every(({ met }) => met) ? 0 : 1);
