import { stat } from "node:fs/promises";
import type { Adapter, Input } from "../adapters/adapter.ts";
import { jsonl } from "../adapters/jsonl/adapter.ts";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { statInput } from "../files/discovery.ts";
import type { SessionFilter } from "../sessions/filter.ts";
import { type AdapterInput, findInputs, type Searches } from "../sessions/inputs.ts";
import type { PictureSender } from "./picture-sender.ts";
import type { SentRecord } from "./sent-record.ts";

/**
 * @param onUnchanged called with the number of selected sessions in each other input
 * @param pictures without it, sessions that lack pictures count as sent
 * @param onFound called with every input that is not left out by options
 */
export async function* findChangedInputs(
  context: Context,
  filter: SessionFilter,
  record: SentRecord | undefined,
  onUnchanged: (sessions: number) => void,
  {
    searches,
    pictures,
    onFound,
  }: { searches?: Searches | undefined; pictures?: PictureSender; onFound?: (input: AdapterInput) => void } = {},
): AsyncGenerator<AdapterInput> {
  await filter.open();
  for await (const input of findSelectedInputs(context, filter, searches)) {
    context.signal.throwIfAborted();
    const { name } = input.adapter;
    if (!filter.wantsInput(input)) {
      filter.noteLeftOut(record?.getLabels(input), name);
      continue;
    }
    onFound?.(input);
    if (record?.isUnsendable(input)) continue;
    const leftOut = record?.getLeftOutLabels(input) ?? [];
    if (!leftOut.every((session) => filter.leavesOut(session))) {
      yield input;
      continue;
    }
    const lacksPictures = record?.findSessionsLackingPictures(input).some(([, one]) => filter.sendsPictures(one));
    const isSent = !lacksPictures || (await pictures?.isTaking()) !== true;
    const unchanged = isSent ? record?.countUnchanged(input) : undefined;
    if (unchanged === undefined && isLeftOut(input, filter, record)) {
      for (const session of record?.getLabels(input) ?? []) filter.noteProjectLeftOut(session);
      continue;
    }
    if (unchanged !== undefined) for (const session of leftOut) filter.noteProjectLeftOut(session);
    const labels = filter.needsLabels(name) ? record?.getLabels(input) : undefined;
    if (unchanged === undefined || (filter.needsLabels(name) && !labels)) yield input;
    else
      onUnchanged(
        labels
          ? labels.filter((session) => filter.wantsSession(session, name) && !filter.leavesOut(session)).length
          : unchanged,
      );
  }
}

/** Tells whether all projects of an input are left out, so that it need not be read. */
function isLeftOut(input: AdapterInput, filter: SessionFilter, record: SentRecord | undefined): boolean {
  if (input.adapter.holdsAnySource) return false;
  const labels = record?.getLabels(input) ?? [];
  return labels.length > 0 && labels.every((session) => filter.leavesOut(session));
}

async function* findSelectedInputs(
  context: Context,
  filter: SessionFilter,
  searches: Searches | undefined,
): AsyncGenerator<AdapterInput> {
  const wanted = (adapter: Adapter) => filter.wantsAdapter(adapter);
  if (context.words.length === 0) return yield* findInputs(context.host, wanted, searches);
  for (const path of context.words) yield { ...(await findNamedFile(path)), adapter: jsonl };
}

export async function findNamedFile(path: string): Promise<Input> {
  const input = await statInput(path);
  if (input) return { ...input, isComplete: true };
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  throw new CommandError("usage", isFolder ? `"${path}" is a folder, not a file.` : `There is no file "${path}".`);
}
