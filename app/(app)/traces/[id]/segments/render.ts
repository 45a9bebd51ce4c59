import "server-only";
import { isWithin, type Range, wholeRange } from "#lib/traces/for-others";
import { countMessages } from "#lib/traces/messages";
import { withPictures } from "#lib/traces/pictures";
import { readOrigin } from "#lib/traces/place";
import { readerZone } from "../../../../components/zone";
import { draw } from "../drawing/draw";
import type { DrawnSegment } from "../drawing/operations";
import type { Whose } from "../messages/scene";
import { readRow, readSegment } from "./read";
import type { BodyRequest, SegmentRequest } from "./request";
import { sessionsOf } from "./sessions";

/** HTML as React takes it. */
export type Markup = { __html: string };

/** A rendered segment: a run of neighbouring messages, and what the page's frame needs to know about it. */
export type Segment = Omit<DrawnSegment, "html"> & {
  markup: Markup;
  /** The number of messages before it. */
  before: number;
  /** By what its HTML is found where the page is written, if it is only there. */
  handedOver?: string | undefined;
  /** The view that it was loaded for, where the page knows. */
  talk?: boolean;
};

/** Selects the messages to draw and their reader. `masked` hides secrets in them; `pictures` shows their pictures. */
export type Shown = {
  userId: string;
  traceId: string;
  whose: Whose;
  range?: Range;
  masked?: boolean;
  pictures?: boolean;
};

const turnOf = ({ userId, whose }: Shown) => ({ userId, kind: "sharedAt" in whose ? "shared" : "own" }) as const;

/** How a user's own trace is shown to them. */
export const toOwner = (userId: string, traceId: string): Shown => ({
  userId,
  traceId,
  whose: { traceId },
  pictures: true,
});

/** Draws a segment of a trace. @returns undefined where there is nothing */
export async function drawSegment(
  shown: Shown,
  request: SegmentRequest,
  talk: boolean,
): Promise<DrawnSegment | undefined> {
  const { userId, traceId, whose, range, masked = false } = shown;
  const view = { whose, zone: await readerZone() };
  return draw(turnOf(shown), "segment", async () => {
    const found = await readSegment(userId, traceId, request, talk, range);
    if (!found) return undefined;
    const [messages, sessions, { place, names }] = await Promise.all([
      shown.pictures ? withPictures(userId, traceId, found.messages) : found.messages,
      "traceId" in whose ? sessionsOf(userId, traceId, found.messages) : {},
      readOrigin(userId, traceId),
    ]);
    const read = { ...found, messages };
    const how = { talk, masked, names, ...("at" in request && { at: request.at }) };
    return { read, view: { ...view, place, sessions }, ...how };
  });
}

/** Renders a segment of a user's own trace. @returns undefined where there is nothing */
export async function renderSegment(
  userId: string,
  traceId: string,
  request: SegmentRequest,
  talk: boolean,
): Promise<Segment | undefined> {
  const drawn = await drawSegment(toOwner(userId, traceId), request, talk);
  if (!drawn) return undefined;
  const before = drawn.earlier ? await countMessages(userId, traceId, { before: drawn.first }) : 0;
  return { ...asSegment(drawn), before };
}

/** A drawn segment as a page takes it. Others are not told how many messages come before it: some may not be theirs to know of. */
export const asSegment = ({ html, ...segment }: DrawnSegment): Segment => ({
  ...segment,
  before: 0,
  markup: { __html: html },
});

/** Draws the body of a fold that is not on the page. @returns its HTML; undefined where there is none */
export async function drawBody(shown: Shown, { position, positions, part }: BodyRequest): Promise<string | undefined> {
  const { userId, traceId, whose, range = wholeRange, masked = false } = shown;
  const view = { whose, zone: await readerZone() };
  return draw(turnOf(shown), "body", async () => {
    const within = positions.filter((one) => isWithin(range, one));
    if (within.length === 0) return undefined;
    const [found, origin] = await Promise.all([readRow(userId, traceId, within), readOrigin(userId, traceId)]);
    const messages = found && shown.pictures ? await withPictures(userId, traceId, found) : found;
    const { place, names } = origin;
    const which = { masked, names, position, ...(part !== undefined && { part }) };
    return messages && { messages, view: { ...view, place }, ...which };
  });
}
