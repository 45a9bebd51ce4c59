import "server-only";
import { redirect } from "next/navigation";
import { findLogin } from "#lib/device/login";
import { SpoorError } from "#lib/errors";

/** The login behind a code that a person typed, or opened a link with. Who tried too many codes is told so. */
export async function lookUp(userId: string, code: string): ReturnType<typeof findLogin> {
  try {
    return await findLogin(userId, code);
  } catch (error) {
    if (!(error instanceof SpoorError) || error.code !== "rate_limited") throw error;
    redirect("/device?done=limited");
  }
}
