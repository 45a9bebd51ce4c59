import type { ReaderMessage } from "#lib/transcript/message";
import { makeRows } from "#lib/transcript/rows";
import { drawBody, drawMessages } from "../../../app/(app)/traces/[id]/messages/messages";

const view = { whose: { traceId: "018f3c1e-0000-7000-8000-000000000001" }, zone: "UTC" };

let next = 0;

/** A message of an assistant at the next position, unless told otherwise. */
export function message(fields: Partial<ReaderMessage>): ReaderMessage {
  next += 1;
  return {
    position: next,
    role: "assistant",
    content: "",
    tokenCount: null,
    createdAt: null,
    metadata: null,
    ...fields,
  };
}

/** The HTML of some messages as the page has it. */
export const render = (messages: ReaderMessage[], talk = false) => drawMessages(makeRows(messages), view, talk);

/** The HTML of a fold's body as it is loaded; "" where there is none. */
export async function renderBody(messages: ReaderMessage[], part?: string): Promise<string> {
  const [row] = makeRows(messages);
  if (!row) throw new Error("There is no row.");
  return (await drawBody(row, view, part)) ?? "";
}
