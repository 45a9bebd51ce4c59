// For a function host, `next start`, and `server.js` of the standalone output.
import "server-only";
import { randomUUID } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { openSetup } from "#lib/auth/setup";
import { env, isFunctionHost, requiredEnv } from "#lib/core/env";
import { EnvError } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { trustClientAddressHeader } from "#lib/http/address";
import { requestIdHeader } from "#lib/http/headers";
import { logConsole } from "#lib/observability/console";
import { makeSenderNaming } from "#server/http/client-address";
import { cutUserAgent, findRefusal, isApi } from "#server/http/refusals";

export async function startBare(): Promise<void> {
  try {
    requiredEnv("DATABASE_URL");
    requiredEnv("AUTH_SECRET");
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  if (env().NODE_ENV !== "production") return;
  nameRequests();
  if (env().VERCEL) return; // it has its own log
  logConsole();
  if (!isFunctionHost(env()) && env().SETUP_TOKEN === undefined) printSetup();
}

async function printSetup(): Promise<void> {
  try {
    const link = await openSetup();
    if (link) process.stdout.write(`\nCreate the first account (this link works once):\n  ${link}\n\n`);
  } catch (error) {
    const text = "the setup link could not be made; set SETUP_TOKEN, or start again once the database answers";
    log.warn({ err: error }, text);
  }
}

/** Before any listener sees a request. One that our own server would refuse gets a path that no route has. */
export function nameRequests(): void {
  const nameSender = env().VERCEL ? undefined : makeSenderNaming(); // Vercel has the address in its own header
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { request: IncomingMessage };
    cutUserAgent(request);
    const requestId = randomUUID();
    request.headers[requestIdHeader] = requestId;
    nameSender?.(request);
    if (isApi(request.url) && findRefusal(request, requestId)) request.url = "/api/refused";
  });
  if (nameSender) trustClientAddressHeader("another");
}
