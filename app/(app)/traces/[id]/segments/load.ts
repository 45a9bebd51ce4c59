"use server";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { sent } from "../../../../components/forms/form-guard";
import { drawBody, renderSegment, type Segment, toOwner } from "./render";
import { bodyRequest, segmentRequest } from "./request";

const segmentInput = z.object({ traceId: z.uuid(), request: segmentRequest, talk: z.boolean() });
const bodyInput = bodyRequest.extend({ traceId: z.uuid() });

/** Read-only. @returns undefined if there is nothing (any more) */
export async function loadSegment(input: z.input<typeof segmentInput>): Promise<Segment | undefined> {
  const { traceId, request, talk } = sent(segmentInput, input);
  const user = await requireUser(`/traces/${traceId}`);
  return renderSegment(user.id, traceId, request, talk);
}

/** Read-only. @returns undefined if there is nothing (any more) */
export async function loadBody(input: z.input<typeof bodyInput>): Promise<string | undefined> {
  const { traceId, ...body } = sent(bodyInput, input);
  const user = await requireUser(`/traces/${traceId}`);
  return drawBody(toOwner(user.id, traceId), body);
}
