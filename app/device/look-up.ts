import "server-only";
import { redirect } from "next/navigation";
import { findLogin } from "#lib/device/login";
import { SpoorError } from "#lib/errors";

/** Reports too many attempts as an error. */
export async function lookUp(userId: string, code: string): ReturnType<typeof findLogin> {
  try {
    return await findLogin(userId, code);
  } catch (error) {
    if (!(error instanceof SpoorError) || error.code !== "rate_limited") throw error;
    redirect("/device?done=limited");
  }
}
