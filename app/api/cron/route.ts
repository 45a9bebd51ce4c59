import { z } from "zod";
import { drainQueues } from "#lib/drain";
import { env } from "#lib/env";
import { endpoint, route } from "#lib/http/route";
import { requireSecret } from "#lib/http/secret";

/** In seconds, for hosts that bound a call: the time of draining (lib/limits.ts), and for the last job to end. */
export const maxDuration = 60;

const response = z.strictObject({ ok: z.literal(true), processed: z.int(), drained: z.boolean() });

const drain = endpoint({ auth: "none", response }, async ({ request }) => {
  requireSecret(request, env().CRON_SECRET);
  return { ok: true as const, ...(await drainQueues()) };
});

// Vercel's own cron sends a GET. The secret, which no browser sends by itself, is what makes a change here.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({ GET: drain, POST: drain }, { head: false });
