// Runs in its own thread, so that delays in sending cases are not measured as delays of the server.
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

const agent = new Agent({ keepAlive: true });
const everyMs = 50;

/** Requests `/api/health`. @returns the milliseconds it took; Infinity if the response was not 200 */
function probe(): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const request = get({ agent, host: "127.0.0.1", port: workerData.port, path: "/api/health" }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode === 200 ? performance.now() - startedAt : Infinity));
    });
    request.on("error", () => resolve(Infinity));
  });
}

const times: number[] = [];
let running = true;
parentPort?.once("message", () => {
  running = false;
});
while (running) {
  times.push(await probe());
  await sleep(everyMs);
}
agent.destroy();
parentPort?.postMessage(times);
parentPort?.close();
