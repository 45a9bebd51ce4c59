import { notFound } from "next/navigation";
import { SpoorError } from "#lib/errors";

export async function orMissing<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof SpoorError && error.code === "not_found") notFound();
    throw error;
  }
}
