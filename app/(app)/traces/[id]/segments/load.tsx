"use server";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { readerZone } from "../../../../components/zone";
import { MessageBody } from "../messages/messages";
import { readRow } from "./read";
import { renderSegment, type Segment } from "./render";
import { windowRequest } from "./request";

const segmentInput = z.object({ traceId: z.uuid(), request: windowRequest, talk: z.boolean() });
const position = z.int().min(0).max(2_147_483_647);
const bodyInput = z.object({
  traceId: z.uuid(),
  position,
  /** Those of all messages that the row is made of. */
  positions: z.array(position).min(1).max(1000),
  part: z.string().max(40).optional(),
});

/** A window of messages, rendered. It changes nothing. @returns undefined where there is nothing (any more) */
export async function loadSegment(input: z.input<typeof segmentInput>): Promise<Segment | undefined> {
  const { traceId, request, talk } = segmentInput.parse(input);
  const user = await requireUser(`/traces/${traceId}`);
  return renderSegment(user.id, traceId, request, talk);
}

/**
 * The body of a fold that was not on the page, rendered. It changes nothing.
 *
 * @returns undefined where there is none (any more)
 */
export async function loadBody(input: z.input<typeof bodyInput>): Promise<React.ReactNode> {
  const { traceId, part, ...place } = bodyInput.parse(input);
  const user = await requireUser(`/traces/${traceId}`);
  const row = await readRow(user.id, traceId, place);
  if (!row) return undefined;
  return <MessageBody row={row} traceId={traceId} zone={await readerZone()} whole part={part} />;
}
