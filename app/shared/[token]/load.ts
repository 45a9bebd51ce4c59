"use server";
import { headers } from "next/headers";
import { z } from "zod";
import { sharedTokenHeader } from "#lib/shares/share-limits";
import type { OpenedShare } from "#lib/shares/shares";
import { asSegment, drawBody, drawSegment, type Segment } from "../../(app)/traces/[id]/segments/render";
import { bodyRequest, segmentRequest } from "../../(app)/traces/[id]/segments/request";
import { openedBy, toReaders } from "./opened";

const token = z.string().max(64);
const segmentInput = z.object({ token, request: segmentRequest, talk: z.boolean() });
const bodyInput = bodyRequest.extend({ token });

/** @returns undefined if there is nothing, or the link is no longer valid */
export async function loadSharedSegment(input: z.input<typeof segmentInput>): Promise<Segment | undefined> {
  const asked = segmentInput.safeParse(input);
  if (!asked.success) return undefined; // anybody may send anything
  const { token, request, talk } = asked.data;
  const opened = await openedByPath(token);
  const drawn = opened && (await drawSegment(toReaders(opened, token), request, talk));
  return drawn && asSegment(drawn);
}

/** @returns undefined if there is nothing, or the link is no longer valid */
export async function loadSharedBody(input: z.input<typeof bodyInput>): Promise<string | undefined> {
  const asked = bodyInput.safeParse(input);
  if (!asked.success) return undefined;
  const { token, ...body } = asked.data;
  const opened = await openedByPath(token);
  return opened && drawBody(toReaders(opened, token), body);
}

async function openedByPath(token: string): Promise<OpenedShare | undefined> {
  return (await headers()).get(sharedTokenHeader) === token ? openedBy(token) : undefined;
}
