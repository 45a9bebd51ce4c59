// The decoding thread: does what it is asked for, one thing after the other.
import { parentPort } from "node:worker_threads";
import { SpoorError } from "#lib/errors";
import { type Checked, makeOperations, type Operations, type Part, placeOf } from "#lib/ingest/operations";

export type Call = { operation: keyof Operations; input: unknown };
export type Answer =
  | { ok: true; result: unknown }
  | { ok: false; code: SpoorError["code"]; message: string; errors: SpoorError["errors"] }
  | { ok: false; place: string };

const operations = makeOperations();

async function answer({ operation, input }: Call): Promise<{ answer: Answer; transfer: ArrayBuffer[] }> {
  try {
    const result = await (operations[operation] as (input: unknown) => unknown)(input);
    const moved =
      operation === "check" || operation === "judge"
        ? [(result as Checked).stored]
        : operation === "copy"
          ? [(result as Part).bytes]
          : [];
    return { answer: { ok: true, result }, transfer: moved.map(({ buffer }) => buffer) };
  } catch (error) {
    if (error instanceof SpoorError) {
      const { code, message, errors } = error;
      return { answer: { ok: false, code, message, errors }, transfer: [] };
    }
    return { answer: { ok: false, place: placeOf(error) }, transfer: [] };
  }
}

parentPort?.on("message", async (call: Call) => {
  const { answer: message, transfer } = await answer(call);
  parentPort?.postMessage(message, transfer);
});
