import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { operations } from "#lib/api/operations";
import { errorsOf } from "#lib/api/problems";
import { pool } from "#lib/db/client";
import { type ErrorCode, errorTable } from "#lib/errors";
import { type Scope, scopes } from "#lib/fields";
import type { Operation } from "#lib/http/operation";
import { limits } from "#lib/limits";
import { longTest } from "../support/long.ts";
import { documentedPicture, shapes } from "../support/openapi.ts";
import { provideInterruptibleServer } from "../support/outage.ts";
import { get, logIn, makeUser, post, shareServer, someAddress } from "../support/server.ts";
import { asResponse, bearer, exhaust, exhaustMany, expectApiHeaders, openRequest, sessionCookie } from "./client.ts";

// Every documented example of an error is provoked, and compared with what the server answers: status, headers, and the
// whole body but for the request's id.

const { server, secret, interrupt } = await provideInterruptibleServer();
const userId = await makeUser();
const token = await logIn(server, userId, "m", scopes);
const cookie = await sessionCookie(server);
const { answerOf } = shapes(await (await get(server, "/api/openapi.json")).json());

const { bytes, sha256 } = documentedPicture();

type Sending = {
  headers?: Record<string, string | undefined>;
  body?: string;
  query?: Record<string, string>;
  to?: string;
};
type Call = { operation: Operation; method: string; code: ErrorCode };

const from = (address = someAddress()) => ({ "X-Forwarded-For": address });

function authorization({ auth, about }: Operation): Record<string, string> {
  if (about.secret) return bearer(secret);
  if (auth === "cookie") return { Cookie: cookie, Origin: server.url };
  return auth === "none" ? {} : bearer(token);
}

/** Where the call goes: its example's query, and ids of objects that do not exist. */
function targetOf({ path, about }: Operation, query = about.example?.query ?? {}): string {
  const named = path
    .replace("{path}", "sign-out")
    .replace("{sha256}", sha256)
    .replace(/\{\w+\}/g, () => crypto.randomUUID());
  return `${named}?${new URLSearchParams(query)}`;
}

/** Makes the call of an operation's example, with what the test wants otherwise. */
function send({ operation, method }: Call, { headers, body, query, to = server.url }: Sending = {}): Promise<Response> {
  const { example, raw } = operation.about;
  const text = body ?? (raw && bytes) ?? (example?.body && JSON.stringify(example.body));
  const type = text === undefined ? {} : { "Content-Type": raw?.example.type ?? "application/json" };
  const all = { ...from(), ...type, ...authorization(operation), ...headers };
  const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return fetch(to + targetOf(operation, query), {
    method,
    headers: Object.fromEntries(given),
    ...(text === undefined ? {} : { body: text as BodyInit }),
  });
}

/** As `send`, with a body that is announced and does not come. */
async function announce({ operation, method }: Call, contentLength: number): Promise<Response> {
  const type = operation.about.raw && { "Content-Type": operation.about.raw.example.type };
  const headers = { ...from(), ...type, ...authorization(operation), "Content-Length": String(contentLength) };
  const { request, answer } = openRequest(server, targetOf(operation), { method, headers });
  request.write("{");
  try {
    return asResponse(await answer);
  } finally {
    request.destroy();
  }
}

const wrongInput = ({ operation }: Call): Sending => {
  if (operation.about.raw) return { body: "other bytes" };
  const { wrong, example } = operation.about;
  return example?.body ? { body: JSON.stringify(wrong?.body ?? {}) } : { query: wrong?.query ?? {} };
};

/** A login in a state that a test chose. @returns its code */
async function startLogin(set = ""): Promise<string> {
  const { deviceCode } = await (await post(server, "/api/cli/device/start", { machine: "m" }, from())).json();
  if (set) {
    await pool().query(
      `update device_login set ${set} where id = (select id from device_login order by created_at desc limit 1)`,
    );
  }
  return deviceCode;
}

const tokenWithout = (scope: Scope) =>
  logIn(
    server,
    userId,
    "m",
    scopes.filter((one) => one !== scope),
  );

const poll = async (call: Call, set?: string) => send(call, { query: { deviceCode: await startLogin(set) } });

const exhaustFrom = (call: Call, max?: number, headers = from()) => exhaust(() => send(call, { headers }), max);

const usual: Partial<Record<ErrorCode, (call: Call) => Promise<Response>>> = {
  invalid_json: (call) => send(call, { body: "{" }),
  invalid_request: (call) => send(call, wrongInput(call)),
  missing_token: (call) => send(call, { headers: { Authorization: undefined, Cookie: undefined } }),
  invalid_token: (call) => send(call, { headers: bearer("wrong") }),
  not_found: (call) => send(call),
  request_timeout: (call) => announce(call, 100),
  payload_too_large: (call) => announce(call, 100 << 20),
  unsupported_media_type: (call) => send(call, { headers: { "Content-Type": "text/plain" } }),
  unsupported_encoding: (call) => send(call, { headers: { "Content-Encoding": "compress" } }),
  access_denied: async (call) => {
    const { scope = "none" } = call.operation;
    if (scope !== "none") return send(call, { headers: bearer(await tokenWithout(scope)) });
    return send(call, { headers: { Authorization: undefined, Cookie: cookie, Origin: "https://evil.example" } });
  },
  idempotency_key_reused: async (call) => {
    const headers = { "Idempotency-Key": call.operation.path };
    await send(call, { headers });
    return send(call, { headers, body: '{"traces":[]}' });
  },
  overloaded: async (call) => {
    await pool().query(
      `insert into ingest_job (user_id, id, status, machine, bytes, body_sha256, traces_received, messages_received)
       select $1, gen_random_uuid(), 'queued', 'full', 0, '', 0, 0 from generate_series(1, 10001)`,
      [userId],
    );
    try {
      // How many wait is counted once a second.
      for (const deadline = Date.now() + 30_000; ; await sleep(100)) {
        const response = await send(call);
        if (response.status === 503 || Date.now() > deadline) return response;
      }
    } finally {
      await pool().query("delete from ingest_job where machine = 'full'");
    }
  },
};

const special: Record<string, (call: Call) => Promise<Response>> = {
  "/api/pictures/{sha256} not_found": ({ method, operation }) =>
    fetch(`${server.url}/api/pictures/none`, { method, headers: { ...from(), ...authorization(operation) } }),
  "/api/shared/{link}/pictures/{sha256} rate_limited": (call) => {
    const [address, limit] = [someAddress(), limits.pictures.sharedPerMinutePerNetwork];
    return exhaustMany(`shared-picture:${address}`, limit, () => send(call, { headers: from(address) }));
  },
  "/api/cli/device/start rate_limited": (call) => exhaustFrom(call),
  "/api/cli/telemetry rate_limited": (call) => exhaustFrom(call),
  "/api/mcp rate_limited": async (call) => {
    const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    const headers = bearer(await logIn(server, bob));
    return exhaustMany(`mcp:${bob}`, limits.mcp.callsPerMinutePerUser, () => send(call, { headers }));
  },
  "/api/auth/{path} not_found": ({ method }) =>
    fetch(`${server.url}/api/auth/verify-password`, { method, headers: from() }),
  "/api/cli/device/poll invalid_grant": (call) => send(call, { query: { deviceCode: "A".repeat(43) } }),
  "/api/cli/device/poll access_denied": (call) => poll(call, "status = 'denied'"),
  "/api/cli/device/poll already_consumed": (call) => poll(call, "status = 'redeemed'"),
  "/api/cli/device/poll expired_token": (call) => poll(call, "expires_at = now() - interval '1 minute'"),
  "/api/cli/device/poll slow_down": async (call) => {
    const query = { deviceCode: await startLogin() };
    return exhaust(() => send(call, { query }));
  },
};

async function expectExample({ operation, method, code }: Call, response: Response): Promise<void> {
  const { status } = errorTable[code];
  const text = await response.text();
  const described = answerOf(operation.path, method.toLowerCase(), String(status));
  const documented = described?.content?.["application/problem+json"]?.examples?.[code]?.value as { requestId: string };
  expect(documented).toBeDefined();
  expect(`${response.status} ${text}`).toMatch(new RegExp(`^${status} `));
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expectApiHeaders(response.headers);
  for (const name of Object.keys(described?.headers ?? {})) expect(response.headers.get(name), name).not.toBeNull();
  expect(JSON.parse(text)).toEqual({ ...documented, requestId: response.headers.get("x-request-id") });
}

const calls: Call[] = operations.flatMap((operation) =>
  operation.methods.flatMap((method) =>
    (Object.keys(errorsOf(operation)) as ErrorCode[]).map((code) => ({ operation, method, code })),
  ),
);
const named = (some: Call[]) =>
  some.map((call) => [`${call.method} ${call.operation.path} ${call.code}`, call] as const);

const isTooLong = ({ code, method }: Call) => code === "overloaded" && method === "GET";
const isSlow = ({ code }: Call) => code === "request_timeout";
const isOutage = ({ code }: Call) => code === "unavailable";
const isUnset = ({ code, operation }: Call) => code === "not_found" && operation.about.secret !== undefined;

const isOff = ({ code, operation }: Call) =>
  operation.path === "/api/cli/telemetry" && ["missing_token", "invalid_token"].includes(code);

describe("an example of an error is what the server answers", () => {
  const provokable = calls.filter((call) => ![isSlow, isTooLong, isOutage, isUnset, isOff].some((is) => is(call)));
  test.each(named(provokable))("%s", async (_, call) => {
    const provoke = special[`${call.operation.path} ${call.code}`] ?? usual[call.code];
    expect(provoke, "nothing provokes it").toBeDefined();
    if (provoke) await expectExample(call, await provoke(call));
  });

  longTest("request_timeout, of every operation with a body at the same time", async () => {
    const slow = calls.filter(isSlow);
    expect(slow.length).toBeGreaterThan(3);
    await Promise.all(slow.map(async (call) => expectExample(call, await announce(call, 100))));
  });

  longTest(
    "overloaded, of every operation that reads traces at the same time",
    async () => {
      // A link that opens nothing is refused before a session is read.
      const late = calls.filter((call) => isTooLong(call) && !call.operation.path.startsWith("/api/shared/"));
      expect(late.length).toBeGreaterThan(8);
      const locked = await pool().connect();
      // Suggestions read words, files and projects, and no session.
      await locked.query("begin; lock table trace, trace_file, search_block in access exclusive mode");
      const leaving = new AbortController();
      const headers = bearer(token);
      const exports = [1, 2].map(() =>
        fetch(`${server.url}/api/traces/export`, { headers, signal: leaving.signal }).catch(() => {}),
      );
      await sleep(300);
      try {
        await Promise.all(
          late.map(async (call) => expectExample(call, await withDocumentedDetail(call, await sendConnected(call)))),
        );
      } finally {
        leaving.abort();
        await Promise.all(exports);
        await locked.query("rollback");
        locked.release();
      }
    },
    120_000,
  );

  /** Here more wait than there are connections: one that gets none in time, which is chance too, asks again. */
  async function sendConnected(call: Call, times = 40): Promise<Response> {
    const response = await send(call);
    const { error } = await response.clone().json();
    return error === "unavailable" && times > 1 ? sendConnected(call, times - 1) : response;
  }

  /** Of a user's heavy reads some wait for the others here, and are refused for that instead: which, is chance. */
  async function withDocumentedDetail({ operation: { path } }: Call, response: Response): Promise<Response> {
    const waited = "Too many searches, exports and counts are running. Try again when yours have ended.";
    const chance: unknown[] = [waited, errorTable.overloaded.detail];
    const examples = answerOf(path, "get", "503")?.content?.["application/problem+json"]?.examples;
    const documented = (examples?.overloaded?.value as { detail: string } | undefined)?.detail;
    const body = await response.json();
    const detail = chance.includes(body.detail) && chance.includes(documented) ? documented : body.detail;
    return new Response(JSON.stringify({ ...body, detail }), response);
  }

  test("internal, which any operation may answer", async () => {
    await pool().query("alter table trace rename to trace_away");
    const response = await get(server, "/api/traces", token);
    await pool().query("alter table trace_away rename to trace");
    const documented = answerOf("/api/traces", "get", "default")?.content?.["application/problem+json"];
    expect([response.status, await response.json()]).toEqual([
      500,
      { ...(documented?.examples?.internal?.value as object), requestId: response.headers.get("x-request-id") },
    ]);
  });

  test("unavailable, of every operation that needs the database", async () => {
    interrupt();
    const away = calls.filter(isOutage);
    expect(away.length).toBeGreaterThan(15);
    for (const call of away) await expectExample(call, await send(call));
  });

  test("not_found, where the operator set no secret, and what anonymous telemetry gets where it is off", async () => {
    const environment = { CRON_SECRET: "", METRICS_TOKEN: "", TELEMETRY_ANONYMOUS: "off" };
    const closed = await shareServer({ worker: false, environment });
    for (const call of calls.filter(isUnset))
      for (const given of [secret, "", "undefined"])
        await expectExample(call, await send(call, { to: closed.url, headers: bearer(given) }));
    for (const call of calls.filter(isOff)) {
      const headers = call.code === "invalid_token" ? bearer("wrong") : {};
      await expectExample(call, await send(call, { to: closed.url, headers }));
    }
  });
});
