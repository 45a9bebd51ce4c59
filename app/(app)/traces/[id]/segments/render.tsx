import "server-only";
import type { ReaderRow } from "#lib/reader/message";
import { countMessages } from "#lib/traces/messages";
import { readerZone } from "../../../../components/zone";
import { Messages } from "../messages/messages";
import { readSegment, type SegmentRows } from "./read";
import type { SegmentRequest } from "./request";

/** A rendered segment: a run of neighbouring messages, and what the page's frame needs to know about it. */
export type Segment = Omit<SegmentRows, "rows"> & {
  node: React.ReactNode;
  /** The number of messages before it. */
  before: number;
  /** Whether Talk leaves out the message at the position that was asked for. */
  hidden: boolean;
};

/** Renders a segment of a user's trace. @returns undefined where there is nothing */
export async function renderSegment(
  userId: string,
  traceId: string,
  request: SegmentRequest,
  talk: boolean,
): Promise<Segment | undefined> {
  const segment = await readSegment(userId, traceId, request, talk);
  if (!segment) return undefined;
  const { rows, ...rest } = segment;
  return {
    ...rest,
    before: rest.earlier ? await countMessages(userId, traceId, { before: rest.first }) : 0,
    node: <Messages rows={rows} traceId={traceId} zone={await readerZone()} talk={talk} />,
    hidden: "at" in request && talk && isHidden(rows, request.at),
  };
}

const isHidden = (rows: ReaderRow[], position: number) =>
  rows.some((row) => !row.talk && row.positions.includes(position));
