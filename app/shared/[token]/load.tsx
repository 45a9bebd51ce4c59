"use server";
import { z } from "zod";
import { MessageBody } from "../../(app)/traces/[id]/messages/messages";
import { readRow } from "../../(app)/traces/[id]/segments/read";
import { readerZone } from "../../components/zone";
import { openedBy } from "./opened";

const position = z.int().min(0).max(2_147_483_647);
const bodyInput = z.object({
  token: z.string().max(64),
  position,
  positions: z.array(position).min(1).max(1000),
  part: z.string().max(40).optional(),
});

/**
 * The body of a fold that was not on the page, rendered, for whoever has the link. It changes nothing.
 *
 * @returns undefined where there is none, or where the link does not open (any more)
 */
export async function loadSharedBody(input: z.input<typeof bodyInput>): Promise<React.ReactNode> {
  const { token, part, ...place } = bodyInput.parse(input);
  const opened = await openedBy(token);
  const row = opened && (await readRow(opened.userId, opened.traceId, place));
  if (!row) return undefined;
  return <MessageBody row={row} sharedAt={`/shared/${token}`} zone={await readerZone()} whole part={part} />;
}
