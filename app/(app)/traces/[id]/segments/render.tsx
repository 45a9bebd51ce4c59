import "server-only";
import type { ReaderRow } from "#lib/reader/message";
import { countMessages } from "#lib/traces/messages";
import { readerZone } from "../../../../components/zone";
import { Messages } from "../messages/messages";
import { readWindow } from "./read";
import type { WindowRequest } from "./request";

/** A rendered window, and what the page's frame has to know of it. */
export type Segment = {
  node: React.ReactNode;
  first: number;
  last: number;
  count: number;
  /** How many messages stand before it. */
  before: number;
  earlier: boolean;
  later: boolean;
  /** Whether the position that was asked for is one that Talk leaves out. */
  hidden: boolean;
};

/** Renders a window of messages; the trace must be known to be the user's. @returns undefined where there is nothing */
export async function renderSegment(
  userId: string,
  traceId: string,
  request: WindowRequest,
  talk: boolean,
): Promise<Segment | undefined> {
  const window = await readWindow(userId, traceId, request, talk);
  if (!window) return undefined;
  const { rows, ...rest } = window;
  return {
    ...rest,
    before: window.earlier ? await countMessages(userId, traceId, { before: window.first }) : 0,
    node: <Messages rows={rows} traceId={traceId} zone={await readerZone()} talk={talk} />,
    hidden: "at" in request && talk && isHidden(rows, request.at),
  };
}

const isHidden = (rows: ReaderRow[], position: number) =>
  rows.some((row) => !row.talk && row.positions.includes(position));
