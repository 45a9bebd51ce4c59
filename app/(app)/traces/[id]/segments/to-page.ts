import "server-only";
import { headers } from "next/headers";
import { handOver } from "./hand-over";
import type { Segment } from "./render";

/** A page's first segment, as the page is sent: its messages once, where that is HTML. */
export const toPage = async (segment: Segment): Promise<Segment> => ((await isWritten()) ? handOver(segment) : segment);

/** Whether the page is sent as HTML, and not as data to a page that is open already. */
async function isWritten(): Promise<boolean> {
  const given = await headers();
  const asked = given.get("sec-fetch-dest");
  return asked === null ? !given.has("next-url") && !given.has("next-action") : asked === "document";
}
