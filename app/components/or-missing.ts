import { notFound } from "next/navigation";
import { SpoorError } from "#lib/errors";

/** Shows the not-found page for a missing object or another user's. */
export async function orMissing<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof SpoorError && error.code === "not_found") notFound();
    throw error;
  }
}
