import "server-only";
import { createAuthMiddleware, isAPIError } from "better-auth/api";
import { twoFactor } from "better-auth/plugins";
import { type HookContext, totpOptions } from "#lib/auth/sign-in/second-factor";
import { env } from "#lib/core/env";
import { localPath } from "#lib/http/address";

/** better-auth's name of the route. */
export const callbackPath = "/callback/:id";
const isCallback = ({ path }: { path?: string | undefined }) => path === callbackPath;

/** Users whom a provider has vouched for, and whose second factor is missing. */
const vouchedFor = new WeakMap<object, string>();

export const findVouchedUser = ({ context }: HookContext): string | undefined => vouchedFor.get(context);

/**
 * better-auth asks for it only after a password; this also does after a provider. Accounts without a password can turn
 * it on with another proof.
 */
export function secondFactor() {
  const plugin = twoFactor({ issuer: "Spoor", totpOptions, allowPasswordless: true });
  const [askAfterPassword] = plugin.hooks.after;
  if (!askAfterPassword) throw new Error("better-auth's second factor has no hook");
  const note = createAuthMiddleware(async ({ context }) => {
    const user = context.newSession?.user;
    if (user?.twoFactorEnabled) vouchedFor.set(context, user.id);
  });
  const ask = { matcher: isCallback, handler: askAfterPassword.handler };
  return { ...plugin, hooks: { after: [{ matcher: isCallback, handler: note }, askAfterPassword, ask] } };
}

/** Remembers the page to open after the sign-in. */
export async function leadToSecondFactor(context: HookContext): Promise<void> {
  const { returned, newSession, responseHeaders } = context.context;
  if (newSession || isAPIError(returned) || !findVouchedUser(context)) return;
  const target = new URL(responseHeaders?.get("location") ?? "/", env().BASE_URL);
  const next = localPath(target.pathname + target.search);
  throw context.redirect(`/sign-in/second-factor?next=${encodeURIComponent(next)}`);
}
