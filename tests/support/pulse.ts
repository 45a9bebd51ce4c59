import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Server } from "./server.ts";

/** Runs in a separate thread, so that the attacker's work in the test's process does not distort the measurement. */
const probe = `
const { parentPort, workerData } = require("node:worker_threads");
const { Agent, get } = require("node:http");
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
const taken = [];
let failed = 0;
const timer = setInterval(() => {
  const startedAt = performance.now();
  get(workerData, { agent }, (response) => {
    response.resume();
    response.once("end", () => { taken.push(performance.now() - startedAt); if (response.statusCode !== 200) failed += 1; });
  }).once("error", () => { failed += 1; });
}, 10);
parentPort.once("message", () => {
  clearInterval(timer);
  setTimeout(() => { parentPort.postMessage({ taken, failed }); agent.destroy(); }, 500);
});
parentPort.postMessage("asking");
`;

/** For tests of response times: the best of three counts, since other work on the machine only lengthens them. */
export const bestOfThree = { retry: 2 };

/** Response times of the server's health in milliseconds, and the number of answers other than 200. */
export type Pulse = { asked: number; p50: number; p99: number; max: number; failed: number };

/** Requests the server's health every 10 ms while `work` runs. */
export async function takePulse(server: Server, work: () => Promise<void>): Promise<Pulse> {
  const worker = new Worker(probe, { eval: true, workerData: `${server.url}/api/health` });
  await once(worker, "message");
  try {
    await work();
    worker.postMessage("stop");
    const [{ taken, failed }] = (await once(worker, "message")) as [{ taken: number[]; failed: number }];
    const sorted = taken.toSorted((a, b) => a - b);
    const at = (share: number) =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
    return { asked: taken.length, p50: at(0.5), p99: at(0.99), max: at(1), failed };
  } finally {
    await worker.terminate();
  }
}
