import { z } from "zod";
import { scopes, scopesIn, usualScopes, withoutInvisible } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

const machine = z
  .string()
  .transform((name) => withoutInvisible(name).trim())
  .pipe(z.string().min(1, "must not be empty").max(limits.device.machine))
  // OpenAPI can't derive the bounds after the pipe.
  .meta({
    minLength: 1,
    maxLength: limits.device.machine,
    description: `The machine's name: 1 to ${limits.device.machine} characters after trimming.`,
  });

const askedScopes = z
  .array(z.enum(scopes))
  .min(1, "must name at least one scope")
  .transform(scopesIn)
  .default(usualScopes)
  .describe("The scopes of the token. The person who approves may change them.");

export const startRequest = z.object({ machine, scopes: askedScopes });

export const startResponse = z.object({
  ok: z.literal(true),
  deviceCode: z.string(),
  userCode: z.string(),
  verificationUri: z.url(),
  verificationUriComplete: z.url(),
  expiresIn: z.int(),
  expiresAt: z.iso.datetime(),
  interval: z.int(),
});

export const pollQuery = z.object({ deviceCode: z.string().min(1).max(limits.device.deviceCode) });

export const pending = z.object({
  ok: z.literal(true),
  status: z.literal("pending"),
  interval: z.int(),
  expiresIn: z.int(),
  slowDown: z.literal(true).optional(),
});

export const approved = z.object({
  ok: z.literal(true),
  status: z.literal("approved"),
  token: z.string(),
  tokenType: z.literal("Bearer"),
  userId: z.uuid(),
  user: z.object({ name: z.string(), email: z.string() }),
  machine: z.string(),
  scopes: z.array(z.enum(scopes)),
  expiresAt: z.iso.datetime(),
});

export const pollResponse = z.discriminatedUnion("status", [pending, approved]);
