import "server-only";
import { headers } from "next/headers";
import { handOver } from "./hand-over";
import type { Segment } from "./render";

export const toPage = async (segment: Segment): Promise<Segment> => ((await isWritten()) ? handOver(segment) : segment);

/** False for data that an open page asks for. */
async function isWritten(): Promise<boolean> {
  const given = await headers();
  const asked = given.get("sec-fetch-dest");
  return asked === null ? !given.has("next-url") && !given.has("next-action") : asked === "document";
}
