"use server";
import { z } from "zod";
import { requireUser } from "#lib/auth/session";
import { rowsOf } from "#lib/reader/rows";
import { readMessages } from "#lib/traces/messages";
import { readerZone } from "../../../components/zone";
import { MessageBody } from "./messages/messages";
import { renderSegment, type Segment } from "./segment";
import { windowRequest } from "./window-request";

const segmentInput = z.object({ traceId: z.uuid(), request: windowRequest, talk: z.boolean() });
const bodyInput = z.object({ traceId: z.uuid(), position: z.int().min(0) });
/** How far behind a call its result is looked for. */
const withResult = 12;

/** A window of messages, rendered. It changes nothing. @returns undefined where there is nothing (any more) */
export async function loadSegment(input: z.input<typeof segmentInput>): Promise<Segment | undefined> {
  const { traceId, request, talk } = segmentInput.parse(input);
  const user = await requireUser(`/traces/${traceId}`);
  return renderSegment(user.id, traceId, request, talk);
}

/** The whole body of one message, rendered. It changes nothing. @returns undefined where there is none (any more) */
export async function loadBody(input: z.input<typeof bodyInput>): Promise<React.ReactNode> {
  const { traceId, position } = bodyInput.parse(input);
  const user = await requireUser(`/traces/${traceId}`);
  const { messages } = await readMessages(user.id, traceId, position - 1, { limit: withResult });
  const row = rowsOf(messages).find((one) => one.position === position);
  if (!row) return undefined;
  return <MessageBody row={row} traceId={traceId} zone={await readerZone()} whole />;
}
