import { endpoint, route } from "#lib/api/route";
import { drainNow } from "#lib/api/service";
import { env } from "#lib/core/env";
import { requireSecret } from "#lib/http/secret";
import { drainQueues } from "#server/background/drain";

/** In seconds, for hosts that bound a call: the time of draining (lib/core/limits.ts), and for the last job to end. */
export const maxDuration = 60;

const drain = endpoint(drainNow, async ({ request }) => {
  requireSecret(request, env().CRON_SECRET);
  return { ok: true as const, ...(await drainQueues()) };
});

// Vercel's own cron sends a GET. Changes are protected by the secret, which no browser sends on its own.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({ GET: drain, POST: drain }, { head: false });
