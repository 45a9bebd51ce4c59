"use server";
import { z } from "zod";
import { MessageBody } from "../../(app)/traces/[id]/messages/messages";
import { readRow } from "../../(app)/traces/[id]/segments/read";
import { bodyRequest } from "../../(app)/traces/[id]/segments/request";
import { readerZone } from "../../components/zone";
import { openedBy } from "./opened";

const bodyInput = bodyRequest.extend({ token: z.string().max(64) });

/** `loadBody` for anyone with the link. @returns undefined where there is no such body, or the link is not valid (any more) */
export async function loadSharedBody(input: z.input<typeof bodyInput>): Promise<React.ReactNode> {
  const { token, part, ...place } = bodyInput.parse(input);
  const opened = await openedBy(token);
  const row = opened && (await readRow(opened.userId, opened.traceId, place));
  if (!row) return undefined;
  return <MessageBody row={row} sharedAt={`/shared/${token}`} zone={await readerZone()} part={part} />;
}
