import "server-only";
import { AsyncLocalStorage } from "node:async_hooks";
import { betterAuth } from "better-auth";
import { prismaAdapter } from "better-auth/adapters/prisma";
import { APIError } from "better-auth/api";
import { nextCookies } from "better-auth/next-js";
import { betterAuthPasswords } from "#lib/auth/hashing";
import { isRemembered, spoorHooks } from "#lib/auth/hooks";
import { configuredProviders } from "#lib/auth/providers";
import { accountForm, passwordLength } from "#lib/auth/schema";
import { needsSetup } from "#lib/auth/setup";
import { firstEnd } from "#lib/auth/sign-ins";
import { noteAccount, noteProvider, noteSignOut } from "#lib/auth/trail";
import { secondFactor } from "#lib/auth/two-factor";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { prisma } from "#lib/db/client";
import { env, requiredEnv } from "#lib/env";
import type { PrismaClient } from "#lib/generated/prisma/client";
import { clientAddress, clientAddressHeader } from "#lib/http/address";
import { limits } from "#lib/limits";
import { log } from "#lib/log";

/** What failed inside better-auth, which answers a 500 without it, by request. */
export const failures = new AsyncLocalStorage<{ error?: unknown }>();

function noteFailure(error: unknown): void {
  const request = failures.getStore();
  if (request) request.error = error;
}

function make() {
  const { BASE_URL } = env();
  const secure = BASE_URL.startsWith("https:");
  return betterAuth({
    appName: "Spoor",
    baseURL: BASE_URL,
    basePath: "/api/auth",
    secret: requiredEnv("AUTH_SECRET"),
    trustedOrigins: [BASE_URL],
    telemetry: { enabled: false },
    logger: {
      log: (level, message) => log[level === "debug" || level === "info" ? "debug" : level](`better-auth: ${message}`),
    },
    database: prismaAdapter(prisma(), { provider: "postgresql" }),
    // Accounts are created by lib/auth/accounts.ts only: at set-up, by invitation, or where SIGN_UP is open.
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.min,
      maxPasswordLength: passwordLength.max,
      password: betterAuthPasswords,
    },
    socialProviders: configuredProviders(),
    // A provider's identity is linked to an account by its owner, in the settings; never because the addresses are equal.
    account: { encryptOAuthTokens: true, accountLinking: { enabled: true, disableImplicitLinking: true } },
    databaseHooks: {
      user: {
        // The first account is created at the set-up link alone.
        create: {
          before: async () => !(await needsSetup()),
          after: noteAccount,
        },
        // The returned data is merged over the change, so `image` is removed by setting it to null.
        update: {
          before: async ({ name, image }) => ({
            data: { ...properName(name), ...(image === undefined ? {} : { image: null }) },
          }),
        },
      },
      account: { create: { after: noteProvider } },
      session: {
        delete: { after: noteSignOut },
        create: {
          // better-auth would store only the network of an IPv6 address, and reads proxy headers differently.
          before: async (session, context) => ({
            data: {
              ...session,
              ipAddress: clientAddress(context?.headers ?? new Headers()),
              expiresAt: firstEnd(session, await isRemembered(context)),
            },
          }),
        },
      },
    },
    user: { additionalFields: { role: { type: "string", required: false, input: false } } },
    // Of the cookie, and of the row at most; lib/auth/sign-ins.ts ends the row earlier, and moves its end.
    session: { expiresIn: limits.signIn.maxDays * 86_400, disableSessionRefresh: true },
    // Its own would count by process; lib/auth/http.ts and guesses.ts count for all processes together.
    rateLimit: { enabled: false },
    onAPIError: { errorURL: `${BASE_URL}/sign-in`, onError: noteFailure },
    advanced: {
      // Explicit, because by default better-auth skips the check wherever the environment has a variable TEST.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      cookiePrefix: "authlib",
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path: "/", secure },
      database: { generateId: "uuid" },
      // Of a request over HTTP lib/auth/http.ts sets it anew: where another server than ours runs Next, a client could.
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
    },
    plugins: [secondFactor(), spoorHooks, nextCookies()],
  });
}

/** A changed name follows the form's rules whichever route it came by. */
function properName(name: unknown): { name?: string } {
  if (name === undefined) return {};
  const parsed = accountForm.shape.name.safeParse(name);
  if (parsed.success) return { name: parsed.data };
  throw new APIError("BAD_REQUEST", { message: parsed.error.issues[0]?.message ?? "The name is not valid." });
}

type Auth = ReturnType<typeof make>;

/** By the connections that it was made with: those of a closed database are of no use to the next one. */
const known = oncePerProcess("better-auth", () => new WeakMap<PrismaClient, Auth>());

/** better-auth, for people in a browser. Machines have tokens of our own (lib/auth/tokens.ts). */
export function auth(): Auth {
  const made = known.get(prisma()) ?? make();
  known.set(prisma(), made);
  return made;
}
