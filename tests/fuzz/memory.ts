import { readFileSync } from "node:fs";

/** Makes Node open an inspector on a free port, which it logs. */
export const inspected = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

/**
 * The memory of a process after a full garbage collection, in bytes: the heap and the buffers of its main thread. Resident
 * memory alone says little, because V8 collects only when it needs to.
 *
 * @param pid of a process that was started with `inspected` and logs to `logFile`
 * @returns undefined if there is no such process
 */
export async function liveBytes(logFile: string, pid: number): Promise<number | undefined> {
  const log = readFileSync(logFile, "utf8");
  for (const [url] of log.matchAll(/ws:\/\/127\.0\.0\.1:\d+\/[0-9a-f-]+/g)) {
    const bytes = await askInspector(url, pid);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
}

type Evaluated = { result: { value: number } };

async function askInspector(url: string, pid: number): Promise<number | undefined> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (result: unknown) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    waiting.get(id)?.(result);
  };
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.onopen = () => resolve(true);
    socket.onerror = () => resolve(false);
  });
  if (!isOpen) return undefined;
  const call = (method: string, params = {}) =>
    new Promise<unknown>((resolve) => {
      const id = waiting.size + 1;
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  const evaluate = async (expression: string) =>
    ((await call("Runtime.evaluate", { expression })) as Evaluated).result.value;
  try {
    if ((await evaluate("process.pid")) !== pid) return undefined;
    await call("HeapProfiler.collectGarbage");
    return await evaluate("process.memoryUsage().heapUsed + process.memoryUsage().external");
  } finally {
    socket.close();
  }
}
