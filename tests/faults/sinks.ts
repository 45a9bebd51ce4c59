import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { startSink, status } from "../support/sink.ts";
import type { Bench, Fault, Outcome } from "./fault.ts";
import { canary, type Spoor } from "./spoor.ts";
import { seconds, timed, until } from "./wait.ts";

type Sink = Awaited<ReturnType<typeof startSink>>;

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const environment = (url: string) => ({
  TELEMETRY_SINK: "webhook",
  TELEMETRY_SINK_URL: url,
  TELEMETRY_SINK_KEY: secret,
});

let device = 0;

/** Sends a submission as a client does. @returns the response, and how long it took */
async function submit(spoor: Spoor): Promise<{ forwarded: boolean; ms: number }> {
  device += 1;
  const body = {
    schema: 1,
    deviceId: `${canary}-device-${device}`,
    cliVersion: "1.0.0",
    platform: "linux",
    arch: "x64",
    command: "scan",
    diagnostics: [{ adapter: "faults" }],
  };
  const { result, ms } = await timed(async () => {
    const response = await fetch(`${spoor.url}/api/cli/telemetry`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Forwarded-For": `10.9.0.${device % 250}` },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as { accepted: number; forwarded: boolean };
  });
  expect(result.accepted).toBe(1);
  return { forwarded: result.forwarded, ms };
}

const waiting = async (spoor: Spoor) =>
  (await spoor.db.query<{ count: number }>("select count(*)::int as count from forward_outbox")).rows[0]?.count ?? 0;

/** Makes waiting outbox entries due now. */
const letTimePass = (spoor: Spoor) =>
  spoor.db.query(
    `with due as (update forward_outbox set due_at = now())
     update server_setting set updated_at = now() where key = 'telemetry_sink_paused'`,
  );

const delivered = (spoor: Spoor) => until(20, "the outbox is empty", async () => (await waiting(spoor)) === 0);

/** Runs work on a separate Spoor that forwards to a separate sink. */
async function withSink<T>(bench: Bench, work: (spoor: Spoor, sink: Sink) => Promise<T>): Promise<T> {
  const sink = await startSink();
  try {
    const both = { environment: environment(`${sink.url}/hook`) };
    return await bench.withSpoor({ web: both, worker: both }, (spoor) => work(spoor, sink));
  } finally {
    await sink.stop();
  }
}

/** Each way in which a sink can fail, one after the other. */
async function badSinks(bench: Bench): Promise<Outcome> {
  return withSink(bench, async (spoor, sink) => {
    const names: string[] = [];
    const elsewhere = await startSink();
    const laterOn: [name: string, answer: Sink["answer"]][] = [
      ["slow", () => {}],
      ["broken off", (response) => void response.socket?.destroy()],
      ["500", status(500)],
      ["503", status(503, { "Retry-After": "3600" })],
      ["429", status(429, { "Retry-After": "3600" })],
      ["redirecting", status(302, { Location: elsewhere.url })],
    ];
    let slowest = 0;
    for (const [name, answer] of laterOn) {
      sink.answer = answer;
      const { forwarded, ms } = await submit(spoor);
      expect([name, forwarded, await waiting(spoor)]).toEqual([name, false, 1]);
      slowest = Math.max(slowest, ms);
      sink.answer = status(200);
      await letTimePass(spoor);
      await delivered(spoor);
      names.push(name);
    }
    expect(slowest).toBeLessThan(4000); // a second and a half for the sink, and what a busy machine takes besides
    expect(elsewhere.got).toEqual([]);
    await elsewhere.stop();
    sink.answer = status(400);
    expect((await submit(spoor)).forwarded).toBe(false);
    expect(await waiting(spoor)).toBe(0);
    sink.answer = status(410);
    expect((await submit(spoor)).forwarded).toBe(false);
    sink.answer = status(200);
    const before = sink.got.length;
    expect((await submit(spoor)).forwarded).toBe(false);
    await letTimePass(spoor);
    await sleep(5000); // the worker checks every two seconds
    expect([sink.got.length, await waiting(spoor)]).toEqual([before, 2]);
    const compared = await spoor.check();
    return {
      injected: `a sink that is ${names.join(", ")}; 400; 410`,
      outcome: `answered after at most ${seconds(slowest)} with forwarded:false, delivered later, the redirect not followed; dropped without a retry; disabled; ${compared}`,
    };
  });
}

/** The web process is killed when the sink has the submission, before that is recorded. */
async function crashBehindSink(bench: Bench): Promise<Outcome> {
  return withSink(bench, async (spoor, sink) => {
    const dies = spoor.web;
    sink.answer = () => dies.signal("SIGKILL"); // the sink has the request, and its 2xx is lost
    await expect(submit(spoor)).rejects.toThrow();
    await dies.ended();
    expect(await waiting(spoor)).toBe(1);
    // Until the lease expires no other process takes the entry.
    await sleep(3000);
    expect(sink.got.length).toBe(1);
    const worker = spoor.processes.find((one) => one !== dies);
    sink.answer = () => worker?.signal("SIGKILL");
    await letTimePass(spoor);
    await worker?.ended();
    sink.answer = status(200);
    await spoor.startWorker({ environment: environment(`${sink.url}/hook`) });
    await letTimePass(spoor);
    await delivered(spoor);
    const ids = sink.got.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toEqual([ids[0], ids[0], ids[0]]);
    await spoor.startWeb({ environment: environment(`${sink.url}/hook`) });
    return {
      injected: "SIGKILL of the web process, then of the worker, when the sink has taken the request",
      outcome: `sent three times under one id; ${await spoor.check()}`,
    };
  });
}

export const sinkFaults: Fault[] = [
  {
    name: "sink",
    title: "Sink down, slow, 400, 410, 429, redirecting",
    group: "processes",
    quick: true,
    run: badSinks,
  },
  {
    name: "sink-crash",
    title: "Crash after the sink's 2xx",
    group: "processes",
    quick: true,
    run: crashBehindSink,
  },
];
