"use server";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { readerZone } from "../../../../components/zone";
import { MessageBody } from "../messages/messages";
import { readRow } from "./read";
import { renderSegment, type Segment } from "./render";
import { bodyRequest, segmentRequest } from "./request";

const segmentInput = z.object({ traceId: z.uuid(), request: segmentRequest, talk: z.boolean() });
const bodyInput = bodyRequest.extend({ traceId: z.uuid() });

/** Renders a segment. Read-only. @returns undefined where there is nothing (any more) */
export async function loadSegment(input: z.input<typeof segmentInput>): Promise<Segment | undefined> {
  const { traceId, request, talk } = segmentInput.parse(input);
  const user = await requireUser(`/traces/${traceId}`);
  return renderSegment(user.id, traceId, request, talk);
}

/** Renders the body of a fold that was not on the page. Read-only. @returns undefined where there is none (any more) */
export async function loadBody(input: z.input<typeof bodyInput>): Promise<React.ReactNode> {
  const { traceId, part, ...place } = bodyInput.parse(input);
  const user = await requireUser(`/traces/${traceId}`);
  const row = await readRow(user.id, traceId, place);
  if (!row) return undefined;
  return <MessageBody row={row} traceId={traceId} zone={await readerZone()} part={part} />;
}
