import "server-only";
import { createHmac } from "node:crypto";
import { requiredEnv } from "#lib/env";

/** The trace id of a ruling for all traces. */
export const everywhere = "00000000-0000-0000-0000-000000000000";

/**
 * The key of a user's marks, in memory of its own: it is handed to threads. With another `AUTH_SECRET` all marks are others, and
 * what was decided of single secrets is forgotten.
 */
export const makeMarkKey = (userId: string): Uint8Array =>
  new Uint8Array(createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`secrets:${userId}`).digest());
