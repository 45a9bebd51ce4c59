import { parentPort } from "node:worker_threads";
import { SpoorError } from "#lib/core/errors";
import {
  type Checked,
  type Chunk,
  describePlace,
  makeOperations,
  type Operations,
} from "#lib/ingest/decode/operations";

export type DecoderCall = { id: number; operation: keyof Operations; input: unknown };
export type DecoderAnswer = { id: number } & (
  | { ok: true; result: unknown }
  | { ok: false; code: SpoorError["code"]; message: string; errors: SpoorError["errors"] }
  | { ok: false; place: string }
);

const operations = makeOperations();

async function answer({
  id,
  operation,
  input,
}: DecoderCall): Promise<{ answer: DecoderAnswer; transfer: ArrayBuffer[] }> {
  try {
    const result = await (operations[operation] as (input: unknown) => unknown)(input);
    return { answer: { id, ok: true, result }, transfer: findTransferable(operation, result) };
  } catch (error) {
    if (error instanceof SpoorError) {
      const { code, message, errors } = error;
      return { answer: { id, ok: false, code, message, errors }, transfer: [] };
    }
    return { answer: { id, ok: false, place: describePlace(error) }, transfer: [] };
  }
}

function findTransferable(operation: keyof Operations, result: unknown): ArrayBuffer[] {
  if (operation === "read" || operation === "readAgain") return [(result as Checked).stored.buffer];
  if (operation === "copy") return [(result as Chunk).bytes.buffer];
  return [];
}

parentPort?.on("message", async (call: DecoderCall) => {
  const { answer: message, transfer } = await answer(call);
  parentPort?.postMessage(message, transfer);
});
