import { headers } from "next/headers";
import { requestIdHeader } from "#lib/http/request-id";
import { MissingWords } from "./missing-words";

/** Also shown for another user's object. */
export async function Missing() {
  return <MissingWords requestId={(await headers()).get(requestIdHeader)} />;
}
