import { parentPort } from "node:worker_threads";
import { type Operations, operations } from "./operations";

export type Call = { operation: keyof Operations; input: unknown };
export type DrawingAnswer = { ok: true; result: unknown } | { ok: false; error: Error };

parentPort?.on("message", async ({ operation, input }: Call) => {
  let answer: DrawingAnswer;
  try {
    answer = { ok: true, result: await (operations[operation] as (input: unknown) => unknown)(input) };
  } catch (error) {
    answer = { ok: false, error: error instanceof Error ? error : new Error("drawing failed", { cause: error }) };
  }
  parentPort?.postMessage(answer);
});
