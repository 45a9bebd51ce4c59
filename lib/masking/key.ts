import "server-only";
import { createHmac } from "node:crypto";
import { requiredEnv } from "#lib/env";

/** In a ruling for all traces, this is the trace's id. */
export const everywhere = "00000000-0000-0000-0000-000000000000";

/**
 * A copy, since it is passed to threads. Another `AUTH_SECRET` changes all marks, and forgets decisions on single
 * secrets.
 */
export const makeMarkKey = (userId: string): Uint8Array =>
  new Uint8Array(createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`secrets:${userId}`).digest());
