import "server-only";
import { headers } from "next/headers";
import { auth } from "#lib/auth/auth";

/** `credential` for a password, or a provider's name. */
export async function waysIn(): Promise<string[]> {
  const accounts = await auth().api.listUserAccounts({ headers: await headers() });
  return accounts.map(({ providerId }) => providerId);
}
