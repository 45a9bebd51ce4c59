import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { SpoorError } from "#lib/core/errors";
import { requestIdHeader } from "#lib/http/headers";
import { MissingWords } from "./page-request";

/** Also shown for another user's object. */
export async function Missing() {
  return <MissingWords requestId={(await headers()).get(requestIdHeader)} />;
}

export async function orMissing<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof SpoorError && error.code === "not_found") notFound();
    throw error;
  }
}
