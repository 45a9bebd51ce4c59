// The decoding thread: does what it is asked for.
import { parentPort } from "node:worker_threads";
import { SpoorError } from "#lib/errors";
import { makeOperations, type Operations, type Part, placeOf } from "#lib/ingest/decode/operations";

export type Call = { id: number; operation: keyof Operations; input: unknown };
export type Answer = { id: number } & (
  | { ok: true; result: unknown }
  | { ok: false; code: SpoorError["code"]; message: string; errors: SpoorError["errors"] }
  | { ok: false; place: string }
);

const operations = makeOperations();

async function answer({ id, operation, input }: Call): Promise<{ answer: Answer; transfer: ArrayBuffer[] }> {
  try {
    const result = await (operations[operation] as (input: unknown) => unknown)(input);
    return { answer: { id, ok: true, result }, transfer: movedOf(operation, result) };
  } catch (error) {
    if (error instanceof SpoorError) {
      const { code, message, errors } = error;
      return { answer: { id, ok: false, code, message, errors }, transfer: [] };
    }
    return { answer: { id, ok: false, place: placeOf(error) }, transfer: [] };
  }
}

/** The memory that a result takes with it. */
function movedOf(operation: keyof Operations, result: unknown): ArrayBuffer[] {
  if (operation === "pack") return [(result as Uint8Array<ArrayBuffer>).buffer];
  if (operation === "copy") return [(result as Part).bytes.buffer];
  return [];
}

parentPort?.on("message", async (call: Call) => {
  const { answer: message, transfer } = await answer(call);
  parentPort?.postMessage(message, transfer);
});
