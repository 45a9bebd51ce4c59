import "server-only";
import { createAuthMiddleware, isAPIError } from "better-auth/api";
import { twoFactor } from "better-auth/plugins";
import { localPath } from "#lib/auth/local-path";
import { totpOptions } from "#lib/auth/second-factor";
import { env } from "#lib/env";

type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** The way back from a provider, as better-auth names its route. */
export const callbackPath = "/callback/:id";
const isCallback = ({ path }: { path?: string | undefined }) => path === callbackPath;

/** Whom a provider has vouched for while their second factor is still missing. */
const vouchedFor = new WeakMap<object, string>();

/** The user of a provider's sign-in that waits for the second factor. */
export const findVouchedUser = ({ context }: HookContext): string | undefined => vouchedFor.get(context);

/**
 * better-auth's second factor. By itself it asks for one after a password alone; here after a provider too. Accounts without a
 * password can turn it on: lib/auth and its pages ask for another proof then.
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

/** Leads from a provider to the second factor, where it is asked for, and from there to where the sign-in was to lead. */
export async function leadToSecondFactor(context: HookContext): Promise<void> {
  const { returned, newSession, responseHeaders } = context.context;
  if (newSession || isAPIError(returned) || !findVouchedUser(context)) return;
  const target = new URL(responseHeaders?.get("location") ?? "/", env().BASE_URL);
  const next = localPath(target.pathname + target.search);
  throw context.redirect(`/sign-in/second-factor?next=${encodeURIComponent(next)}`);
}
