import "server-only";
import { betterAuth } from "better-auth";
import { prismaAdapter } from "better-auth/adapters/prisma";
import { createAuthMiddleware, isAPIError } from "better-auth/api";
import { nextCookies } from "better-auth/next-js";
import { twoFactor } from "better-auth/plugins";
import { clientAddressHeader } from "#lib/address";
import { type Origin, originOf, recordEvent } from "#lib/auth/audit";
import { configuredProviders } from "#lib/auth/providers";
import { pool, prisma } from "#lib/db/client";
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
    socialProviders: configuredProviders(),
    // A provider's identity is joined to an account by its owner, in the settings; never by an equal address alone.
    account: { encryptOAuthTokens: true, accountLinking: { enabled: true, disableImplicitLinking: true } },
    databaseHooks: {
      user: { create: { before: async () => !(await isEmpty()) } },
      session: { create: { after: async (session, context) => noteSignIn(session, context?.path) } },
    },
    hooks: {
      after: createAuthMiddleware(async ({ path, body, context, headers }) => {
        const refused = path === "/sign-in/email" && isAPIError(context.returned);
        if (refused) await noteRefusal(body?.email, originOf(headers ?? new Headers()));
      }),
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
    plugins: [twoFactor({ issuer: "Spoor", totpOptions: { digits: 6, period: 30 } }), nextCookies()],
  });
}

/** The first account is made at the set-up link alone. */
async function isEmpty(): Promise<boolean> {
  return (await pool().query(`select 1 from "user" limit 1`)).rowCount === 0;
}

type NewSession = { userId: string; ipAddress?: string | null | undefined; userAgent?: string | null | undefined };

/** Notes a new session. Where a second factor follows, better-auth ends this one and begins another behind it. */
async function noteSignIn({ userId, ipAddress, userAgent }: NewSession, path: string | undefined): Promise<void> {
  const { rows } = await pool().query<{ enabled: boolean }>(
    `select two_factor_enabled as enabled from "user" where id = $1`,
    [userId],
  );
  const halfWay = path === "/sign-in/email" && rows[0]?.enabled;
  const from = { address: ipAddress || "unknown", userAgent: userAgent?.slice(0, 256) || null };
  await recordEvent(pool(), userId, halfWay ? "password_accepted" : "signed_in", null, from);
}

/** Notes a refused password with the account it was tried on; an address without one leaves no trace. */
async function noteRefusal(email: unknown, from: Origin): Promise<void> {
  if (typeof email !== "string") return;
  const { rows } = await pool().query<{ id: string }>(`select id from "user" where email = $1`, [email.toLowerCase()]);
  if (rows[0]) await recordEvent(pool(), rows[0].id, "sign_in_failed", null, from);
}

const globals = globalThis as typeof globalThis & { spoorAuth?: ReturnType<typeof make> };

/** better-auth, for people in a browser. Machines have tokens of our own (lib/auth/tokens.ts). */
export function auth(): ReturnType<typeof make> {
  globals.spoorAuth ??= make();
  return globals.spoorAuth;
}
