import "server-only";
import { isWithin, type SharedRange, type Sharing, wholeRange } from "#lib/masking/for-others";
import { countMessages } from "#lib/messages/read-messages";
import type { Message } from "#lib/messages/schema";
import { findStarted, type Started } from "#lib/traces/family";
import { withPictures } from "#lib/traces/pictures";
import { readOrigin } from "#lib/traces/queries";
import { readerZone } from "../../../../components/shell/preferences";
import { formatMilliseconds } from "../../../../components/values/date-format";
import { formatQuantity } from "../../../../components/values/figures";
import { formatMoney } from "../../../../components/values/money";
import { draw } from "../drawing/draw";
import type { DrawnSegment } from "../drawing/operations";
import type { Sessions, Whose } from "../messages/scene";
import { readRow, readSegment } from "./read-segment";
import type { BodyRequest, SegmentRequest } from "./request";

export type Markup = { __html: string };

export type Segment = Omit<DrawnSegment, "html"> & {
  markup: Markup;
  before: number;
  talk?: boolean;
};

export type SegmentSession = {
  userId: string;
  traceId: string;
  whose: Whose;
  range?: SharedRange;
  masked?: boolean;
  pictures?: boolean;
};

const getQueueTurn = ({ userId, whose }: SegmentSession) =>
  ({ userId, kind: "sharedAt" in whose ? "shared" : "own" }) as const;

export const toOwner = (userId: string, traceId: string): SegmentSession => ({
  userId,
  traceId,
  whose: { traceId },
  pictures: true,
});

export async function drawSegment(
  shown: SegmentSession,
  request: SegmentRequest,
  talk: boolean,
): Promise<DrawnSegment | undefined> {
  const { userId, traceId, whose, range, masked = false } = shown;
  const view = { whose, zone: await readerZone() };
  return draw(getQueueTurn(shown), "segment", async () => {
    const found = await readSegment(userId, traceId, request, talk, range);
    if (!found) return undefined;
    const [messages, sessions, { place, names }] = await Promise.all([
      shown.pictures ? withPictures(userId, traceId, found.messages) : found.messages,
      "traceId" in whose ? findStartedSessions(userId, traceId, found.messages) : {},
      readOrigin(userId, traceId),
    ]);
    const read = { ...found, messages };
    const how = { talk, masked, names, ...("at" in request && { at: request.at }) };
    return { read, view: { ...view, place, sessions }, ...how };
  });
}

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

/** Readers of a shared session do not learn how many messages precede it. */
export const asSegment = ({ html, ...segment }: DrawnSegment): Segment => ({
  ...segment,
  before: 0,
  markup: { __html: html },
});

export async function drawBody(
  shown: SegmentSession,
  { position, positions, part }: BodyRequest,
): Promise<string | undefined> {
  const { userId, traceId, whose, range = wholeRange, masked = false } = shown;
  const view = { whose, zone: await readerZone() };
  return draw(getQueueTurn(shown), "body", async () => {
    const within = positions.filter((one) => isWithin(range, one));
    if (within.length === 0) return undefined;
    const [found, origin] = await Promise.all([readRow(userId, traceId, within), readOrigin(userId, traceId)]);
    const messages = found && shown.pictures ? await withPictures(userId, traceId, found) : found;
    const { place, names } = origin;
    const which = { masked, names, position, ...(part !== undefined && { part }) };
    return messages && { messages, view: { ...view, place }, ...which };
  });
}

const maxSessions = 300;

async function findStartedSessions(userId: string, traceId: string, messages: Message[]): Promise<Sessions> {
  const named = new Set(messages.flatMap(({ metadata }) => namedIn(metadata)));
  const started = await findStarted(userId, traceId, [...named].slice(0, maxSessions));
  return Object.fromEntries(
    [...started].map(([sourceId, session]) => [
      sourceId,
      { href: `/traces/${session.id}`, text: describeStarted(session) },
    ]),
  );
}

function namedIn(metadata: Message["metadata"]): string[] {
  const result = metadata?.result;
  const session = typeof result === "object" && result !== null && "session" in result ? result.session : undefined;
  return typeof session === "string" && session !== "" ? [session] : [];
}

function describeStarted({ messages, costNano, seconds }: Started): string {
  const facts = [
    formatQuantity(messages, "message"),
    costNano > 0 && formatMoney(costNano),
    seconds > 0 && formatMilliseconds(seconds * 1000),
  ];
  return ["Its session", ...facts].filter(Boolean).join(" · ");
}

export const toStranger = (
  userId: string,
  traceId: string,
  { masked, pictures = false, ...range }: Sharing,
): SegmentSession => ({
  userId,
  traceId,
  whose: { sharedAt: `/traces/${traceId}/share`, pictures: `/api/traces/${traceId}/pictures` },
  range,
  masked,
  pictures,
});
