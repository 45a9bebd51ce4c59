import "server-only";
import { AsyncLocalStorage } from "node:async_hooks";
import { betterAuth } from "better-auth";
import { prismaAdapter } from "better-auth/adapters/prisma";
import { APIError } from "better-auth/api";
import { nextCookies } from "better-auth/next-js";
import { isRemembered, spoorHooks } from "#lib/auth/hooks";
import { betterAuthPasswords } from "#lib/auth/passwords/hashing";
import { accountForm, passwordLength } from "#lib/auth/schema";
import { needsSetup } from "#lib/auth/setup";
import { configuredProviders } from "#lib/auth/sign-in/providers";
import { firstEnd } from "#lib/auth/sign-in/sign-ins";
import { secondFactor } from "#lib/auth/sign-in/two-factor";
import { noteAccount, noteProvider, noteSignOut } from "#lib/auth/trail";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { env, requiredEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { log } from "#lib/core/log";
import { prisma } from "#lib/db/client";
import type { PrismaClient } from "#lib/generated/prisma/client";
import { clientAddress, clientAddressHeader } from "#lib/http/address";

/** By request: what made better-auth answer 500. */
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
    // Only lib/auth/accounts.ts creates accounts.
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.min,
      maxPasswordLength: passwordLength.max,
      password: betterAuthPasswords,
    },
    socialProviders: configuredProviders(),
    // Only an account's owner links a provider; equal addresses never do.
    account: { encryptOAuthTokens: true, accountLinking: { enabled: true, disableImplicitLinking: true } },
    databaseHooks: {
      user: {
        // Only the set-up link creates the first account.
        create: {
          before: async () => !(await needsSetup()),
          after: noteAccount,
        },
        // The result is merged over the change; null removes `image`.
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
          // better-auth would store only an IPv6 network, and reads proxy headers differently.
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
    // An upper bound; lib/auth/sign-in/sign-ins.ts ends the row earlier.
    session: { expiresIn: limits.signIn.maxDays * 86_400, disableSessionRefresh: true },
    // better-auth counts per process; lib/auth/http.ts and guesses.ts count across processes.
    rateLimit: { enabled: false },
    onAPIError: { errorURL: `${BASE_URL}/sign-in`, onError: noteFailure },
    advanced: {
      // By default better-auth skips the check wherever a variable TEST is set.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      cookiePrefix: "authlib",
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path: "/", secure },
      database: { generateId: "uuid" },
      // lib/auth/http.ts sets it for requests over HTTP; another server in front of Next may pass on a client's.
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
    },
    plugins: [secondFactor(), spoorHooks, nextCookies()],
  });
}

function properName(name: unknown): { name?: string } {
  if (name === undefined) return {};
  const parsed = accountForm.shape.name.safeParse(name);
  if (parsed.success) return { name: parsed.data };
  throw new APIError("BAD_REQUEST", { message: parsed.error.issues[0]?.message ?? "The name is not valid." });
}

type Auth = ReturnType<typeof make>;

/** A closed database's instance is of no use to the next one. */
const known = oncePerProcess("better-auth", () => new WeakMap<PrismaClient, Auth>());

/** For people in a browser; machines have tokens (lib/auth/tokens.ts). */
export function auth(): Auth {
  const made = known.get(prisma()) ?? make();
  known.set(prisma(), made);
  return made;
}
