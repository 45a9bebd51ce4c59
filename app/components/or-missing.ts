import { notFound } from "next/navigation";
import { SpoorError } from "#lib/errors";

/** What was looked for; where it is missing, or somebody else's, the page that says so. */
export async function orMissing<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof SpoorError && error.code === "not_found") notFound();
    throw error;
  }
}
