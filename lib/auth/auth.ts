import "server-only";
import { betterAuth } from "better-auth";
import { prismaAdapter } from "better-auth/adapters/prisma";
import { nextCookies } from "better-auth/next-js";
import { clientAddressHeader } from "#lib/address";
import { prisma } from "#lib/db/client";
import { env, requiredEnv } from "#lib/env";
import { log } from "#lib/log";

const passwordLength = { least: 10, most: 128 };

function make() {
  const { BASE_URL, VERCEL, AUTH_RATE_LIMIT } = env();
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
    // Accounts are made by lib/auth/accounts.ts only: at set-up, by invitation, or where SIGN_UP is open.
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.least,
      maxPasswordLength: passwordLength.most,
    },
    user: { additionalFields: { role: { type: "string", required: false, input: false } } },
    session: { expiresIn: 30 * 86_400, updateAge: 86_400 },
    rateLimit: { enabled: AUTH_RATE_LIMIT === "on", storage: "memory", window: 60, max: 100 },
    advanced: {
      // Said outright: left out, better-auth skips the check wherever the environment has a variable TEST.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      cookiePrefix: "authlib",
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path: "/", secure },
      database: { generateId: "uuid" },
      ipAddress: { ipAddressHeaders: VERCEL ? ["x-real-ip"] : [clientAddressHeader] },
    },
    plugins: [nextCookies()],
  });
}

const globals = globalThis as typeof globalThis & { spoorAuth?: ReturnType<typeof make> };

/** better-auth, for people in a browser. Machines have tokens of our own (lib/auth/tokens.ts). */
export function auth(): ReturnType<typeof make> {
  globals.spoorAuth ??= make();
  return globals.spoorAuth;
}
