import "server-only";
import type { ReaderRow } from "#lib/reader/rows";
import { countAround } from "#lib/traces/messages";
import { readerZone } from "../../../components/zone";
import { Messages } from "./messages/messages";
import { readWindow } from "./window";
import type { WindowRequest } from "./window-request";

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
  /** Positions that are shown at another's row: a call's result, an empty message. */
  aliases: [position: number, shownAt: number][];
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
    before: window.earlier ? (await countAround(userId, traceId, window.first)).before : 0,
    node: <Messages rows={rows} traceId={traceId} zone={await readerZone()} talk={talk} />,
    aliases: rows.flatMap(({ position, positions }) =>
      positions.filter((other) => other !== position).map((other): [number, number] => [other, position]),
    ),
    hidden: "at" in request && talk && isHidden(rows, request.at),
  };
}

const isHidden = (rows: ReaderRow[], position: number) =>
  rows.some((row) => !row.talk && row.positions.includes(position));
