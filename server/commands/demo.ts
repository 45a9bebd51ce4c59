// `npm run demo` does what a real person and a real client do.
import "server-only";
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { z } from "zod";
import { createOwner, resetPassword } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { env, setEnv } from "#lib/core/env";
import type { EmbeddedDatabase } from "#lib/db/embedded/embedded";
import { freePort, isFree } from "#lib/db/embedded/ports";
import { pollResponse, startResponse } from "#lib/device/schema";
import { ingestResponse, jobResponse } from "#lib/ingest/schema";
import { listResponse } from "#lib/traces/schema";
import { buildIfNeeded } from "#server/build/build";
import { listenForStop, runCommand, say } from "#server/commands/command";
import { prepareSchema, withDatabase } from "#server/commands/database";
import { serve, startProcesses } from "#server/http/serve";

const fixtures = "tests/fixtures/sessions";
const jobSeconds = 60;

/** The demo has its own database and listens on loopback only. */
async function prepareEnvironment(): Promise<void> {
  const port = (await isFree(env().PORT)) ? env().PORT : await freePort();
  setEnv({
    DATABASE_URL: undefined,
    DATA_DIR: join(env().DATA_DIR, "demo"),
    HOST: "127.0.0.1",
    PORT: String(port),
    BASE_URL: `http://localhost:${port}`,
    LOG_LEVEL: env().LOG_LEVEL === "info" ? "warn" : env().LOG_LEVEL,
  });
}

async function main(): Promise<void> {
  await prepareEnvironment();
  const stopRequest = listenForStop();
  const isBuilt = await buildIfNeeded(say, stopRequest).then(
    () => true,
    (error) => {
      if (!stopRequest.aborted) throw error;
      return false;
    },
  );
  if (!isBuilt) return;
  const work = async (database: Pick<EmbeddedDatabase, "keep" | "whenUp">) => {
    await prepareSchema();
    await serve(startProcesses("all", {}, stopRequest, database.whenUp), database, stopRequest, async () => {
      await perform();
      if (process.argv.includes("--exit")) return false;
      say("\nThe server keeps running. Stop it with Ctrl-C.");
      return true;
    });
  };
  await withDatabase(work, { kind: "launcher", signal: stopRequest }).catch((error) => {
    if (error !== stopRequest.reason) throw error;
  });
}

async function perform(): Promise<void> {
  const account = await makeAccount();
  say(`✓ account      ${account.email}`);
  const cookie = await signIn(account);
  const token = await logInDevice(cookie);
  say(`✓ device login ${hostname()} got its token`);
  const traces = await readFixtures();
  const job = await upload(token, traces);
  const { created, unchanged, updated } = job.traces;
  say(`✓ upload       ${job.traces.received} sessions, ${job.messages.received} messages: job ${job.status}`);
  say(
    `               ${created} created, ${updated} updated, ${unchanged} unchanged, ${job.messages.written} rows written`,
  );
  await readBack(token, job);
  say("✓ read back    every session with all its messages");
  say(`\nOpen    ${env().BASE_URL}\nSign in ${account.email}\nwith    ${account.password}`);
}

async function makeAccount() {
  const account = { name: "Demo", email: "demo@example.org", password: randomBytes(9).toString("base64url") };
  const link = await openSetup();
  if (link) await createOwner(new URL(link).searchParams.get("token") ?? "", account, operator);
  else await resetPassword(account.email, account.password, operator, { keepTokens: true });
  return account;
}

async function signIn({ email, password }: { email: string; password: string }): Promise<string> {
  const response = await call("/api/auth/sign-in/email", {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: env().BASE_URL },
    body: JSON.stringify({ email, password }),
  });
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

async function logInDevice(cookie: string): Promise<string> {
  const started = await json(startResponse, "/api/cli/device/start", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ machine: hostname() }),
  });
  await approve(started.verificationUriComplete, cookie);
  const polled = await json(pollResponse, `/api/cli/device/poll?deviceCode=${started.deviceCode}`);
  if (polled.status !== "approved") throw new Error("The approved login returned no token.");
  return polled.token;
}

/** Submits the form as a browser without JavaScript does. */
async function approve(page: string, cookie: string): Promise<void> {
  const path = page.slice(env().BASE_URL.length);
  const html = await (await call(path, { headers: { Cookie: cookie } })).text();
  const button = /<button[^>]*>\s*Approve\s*</.exec(html)?.[0] ?? "";
  const form = html
    .split("<form")
    .find((part) => attribute(part.split(">")[0] ?? "", "id") === attribute(button, "form"));
  if (!button || !form) throw new Error("The approval page has no Approve button.");
  const body = new FormData();
  for (const [tag] of form.split("</form>")[0]?.matchAll(/<input[^>]*>/g) ?? []) {
    const type = attribute(tag, "type");
    if (type === "hidden") body.append(attribute(tag, "name"), attribute(tag, "value"));
    if (type === "checkbox" && / checked(=""|[ />])/.test(tag)) body.append(attribute(tag, "name"), "on");
  }
  const headers = { Cookie: cookie, Origin: env().BASE_URL, "Sec-Fetch-Site": "same-origin" };
  await call(path, { method: "POST", headers, body, redirect: "manual" });
}

const entities: Record<string, string> = { "&quot;": '"', "&#x27;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&" };

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
  return value.replace(/&(?:quot|#x27|lt|gt|amp);/g, (entity) => entities[entity] ?? entity);
}

async function readFixtures(): Promise<unknown[]> {
  const names = (await readdir(fixtures)).filter((name) => name.endsWith(".json")).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(fixtures, name), "utf8"))));
}

async function upload(token: string, traces: unknown[]): Promise<z.output<typeof jobResponse>> {
  const { jobId } = await json(ingestResponse, "/api/ingest", {
    method: "POST",
    headers: { ...bearer(token), "Content-Type": "application/json", "Content-Encoding": "gzip" },
    body: gzipSync(JSON.stringify({ traces })),
  });
  const deadline = performance.now() + jobSeconds * 1000;
  for (;;) {
    const job = await json(jobResponse, `/api/ingest/${jobId}`, { headers: bearer(token) });
    if (job.status === "succeeded") return job;
    if (job.status === "failed") throw new Error(`The upload failed: ${job.error?.message}`);
    if (performance.now() > deadline) throw new Error(`The upload is still ${job.status} after ${jobSeconds} s.`);
    await sleep(100);
  }
}

async function readBack(token: string, job: z.output<typeof jobResponse>): Promise<void> {
  const { traces } = await json(listResponse, "/api/traces?limit=200", { headers: bearer(token) });
  const messages = traces.reduce((sum, { messageCount }) => sum + messageCount, 0);
  if (traces.length < job.traces.received || messages < job.messages.received) {
    throw new Error(`Sent ${job.messages.received} messages, but only ${messages} can be read.`);
  }
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function json<T>(schema: z.ZodType<T>, path: string, init: RequestInit = {}): Promise<T> {
  return schema.parse(await (await call(path, init)).json());
}

async function call(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(env().BASE_URL + path, init);
  if (response.status >= 400)
    throw new Error(`${init.method ?? "GET"} ${path} answered ${response.status}: ${await response.text()}`);
  return response;
}

await runCommand(main);
