import { createElement } from "react";
import { renderToReadableStream } from "react-dom/server.browser";
import type { ReaderMessage } from "#lib/reader/message";
import { rowsOf } from "#lib/reader/rows";
import { MessageBody, Messages } from "../../../app/(app)/traces/[id]/messages/messages";

export const traceId = "018f3c1e-0000-7000-8000-000000000001";

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

async function toHtml(element: Parameters<typeof renderToReadableStream>[0]): Promise<string> {
  const stream = await renderToReadableStream(element, {
    onError: (error) => {
      throw error;
    },
  });
  await stream.allReady;
  return new Response(stream).text();
}

/** The HTML of some messages as the page has it. */
export const render = (messages: ReaderMessage[], talk = false) =>
  toHtml(createElement(Messages, { rows: rowsOf(messages), traceId, zone: "UTC", talk }));

/** The HTML of a fold's body as it is loaded. */
export async function renderBody(messages: ReaderMessage[], part?: string): Promise<string> {
  const [row] = rowsOf(messages);
  if (!row) throw new Error("There is no row.");
  return toHtml(createElement(MessageBody, { row, traceId, zone: "UTC", part }));
}
