import { headers } from "next/headers";
import { requestIdHeader } from "#lib/http/request-id";
import { MissingWords } from "./missing-words";

/** The page for a missing object, and the same for another user's. */
export async function Missing() {
  return <MissingWords requestId={(await headers()).get(requestIdHeader)} />;
}
