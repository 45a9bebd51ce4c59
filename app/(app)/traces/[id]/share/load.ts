"use server";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { limits } from "#lib/core/limits";
import { sent } from "../../../../components/forms/form-guard";
import { drawBody, toStranger } from "../segments/render";
import { bodyRequest } from "../segments/request";

const edge = z.int().min(0).max(limits.message.integer).nullable();
const sharing = z.object({ traceId: z.uuid(), from: edge, to: edge, masked: z.boolean(), pictures: z.boolean() });

/** Read-only. @returns undefined if there is none */
export async function loadPreviewBody(
  given: z.input<typeof sharing>,
  input: z.input<typeof bodyRequest>,
): Promise<string | undefined> {
  const { traceId, ...shown } = sent(sharing, given);
  const user = await requireUser(`/traces/${traceId}/share`);
  return drawBody(toStranger(user.id, traceId, shown), sent(bodyRequest, input));
}
