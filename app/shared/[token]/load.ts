"use server";
import { headers } from "next/headers";
import { z } from "zod";
import { sharedTokenHeader } from "#lib/traces/share-limits";
import { drawBody } from "../../(app)/traces/[id]/segments/render";
import { bodyRequest } from "../../(app)/traces/[id]/segments/request";
import { openedBy, toReaders } from "./opened";

const bodyInput = bodyRequest.extend({ token: z.string().max(64) });

/** `loadBody` for anyone with the link. @returns undefined where there is no such body, or the link is not valid (any more) */
export async function loadSharedBody(input: z.input<typeof bodyInput>): Promise<string | undefined> {
  const { token, ...body } = bodyInput.parse(input);
  // Only of the link in the path, which was counted.
  if ((await headers()).get(sharedTokenHeader) !== token) return undefined;
  const opened = await openedBy(token);
  return opened && drawBody(toReaders(opened, token), body);
}
