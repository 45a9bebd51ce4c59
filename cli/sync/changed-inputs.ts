import { stat } from "node:fs/promises";
import type { Input } from "../adapters/adapter.ts";
import { jsonl } from "../adapters/jsonl/adapter.ts";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { statInput } from "../files/discovery.ts";
import type { SessionFilter } from "../sessions/filter.ts";
import { type AdapterInput, findInputs } from "../sessions/inputs.ts";
import type { SentRecord } from "./sent-record.ts";

/**
 * The selected inputs that must be read, since they have changed or not all of their sessions were sent.
 *
 * @param onUnchanged called with the number of selected sessions in each of the other inputs
 */
export async function* changedInputs(
  context: Context,
  filter: SessionFilter,
  record: SentRecord | undefined,
  onUnchanged: (sessions: number) => void,
): AsyncGenerator<AdapterInput> {
  for await (const input of selectedInputs(context, filter)) {
    context.signal.throwIfAborted();
    const { name } = input.adapter;
    if (!filter.wantsInput(input)) {
      filter.noteLeftOut(record?.labelsOf(input), name);
      continue;
    }
    if (record?.isUnsendable(input)) continue;
    const unchanged = record?.countUnchanged(input);
    const labels = filter.needsLabels(name) ? record?.labelsOf(input) : undefined;
    if (unchanged === undefined || (filter.needsLabels(name) && !labels)) yield input;
    else onUnchanged(labels ? labels.filter((session) => filter.wantsSession(session, name)).length : unchanged);
  }
}

/** The files named as arguments, else what the adapters find. */
async function* selectedInputs(context: Context, filter: SessionFilter): AsyncGenerator<AdapterInput> {
  if (context.words.length === 0) return yield* findInputs(context.host, (adapter) => filter.wantsAdapter(adapter));
  for (const path of context.words) yield { ...(await namedFile(path)), adapter: jsonl };
}

/** A file named as an argument. @throws CommandError `usage` where there is none */
export async function namedFile(path: string): Promise<Input> {
  const input = await statInput(path);
  if (input) return { ...input, isComplete: true };
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  throw new CommandError("usage", isFolder ? `"${path}" is a folder, not a file.` : `There is no file "${path}".`);
}
