import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { operations } from "#lib/api/operations";
import { listErrors } from "#lib/api/problems";
import { type ErrorCode, errorTable } from "#lib/core/errors";
import { scopes } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { provideDatabaseProxy } from "../support/database-proxy.ts";
import { longTest } from "../support/long.ts";
import { shapes } from "../support/openapi.ts";
import { get, logIn, makeUser, operatorSecret, post, provideServer, someAddress } from "../support/server.ts";
import { tell } from "../support/told.ts";
import {
  type Call as Calling,
  fromElsewhere,
  jsonTypes,
  makeWrong,
  notJson,
  otherTypes,
  provideCalls,
} from "./calls.ts";
import { bearer, exhaust, exhaustMany, expectApiHeaders, expectProblem, unknownToken } from "./client.ts";

// Every documented example of an error is provoked, and compared with what the server answers: status, headers, and the
// whole body but for the request's id.

const { via, interrupt } = provideDatabaseProxy();
const secret = operatorSecret;
const environment = { CRON_SECRET: secret, METRICS_TOKEN: secret };
const tellAt = join(tmpdir(), `spoor-tell-errors-${process.pid}`);
const server = await provideServer({ worker: false, environment, via, tellAt });
const userId = await makeUser();
const { token, cookie, send, announce, authorization } = await provideCalls(server, userId, secret);
const { getAnswer } = shapes(await (await get(server, "/api/openapi.json")).json());

type Call = Calling & { code: ErrorCode };

/** A login in a state that a test chose. @returns its code */
async function startLogin(set = ""): Promise<string> {
  const { deviceCode } = await (await post(server, "/api/cli/device/start", { machine: "m" }, fromElsewhere())).json();
  if (set) {
    await pool().query(
      `update device_login set ${set} where id = (select id from device_login order by created_at desc limit 1)`,
    );
  }
  return deviceCode;
}

const poll = async (call: Call, set?: string) => send(call, { query: { deviceCode: await startLogin(set) } });

const exhaustFrom = (call: Call, max?: number, headers = fromElsewhere()) =>
  exhaust(() => send(call, { headers }), max);

type Provoke = (call: Call) => Promise<Response> | Promise<Response>[];

const usual: Partial<Record<ErrorCode, Provoke>> = {
  invalid_json: (call) => notJson.map((body) => send(call, { body })),
  invalid_request: (call) => {
    const input = makeWrong(call);
    const types = "body" in input && !call.operation.about.raw ? jsonTypes : [undefined];
    return types.map((type) => send(call, { ...input, headers: type === undefined ? {} : { "Content-Type": type } }));
  },
  missing_token: (call) => send(call, { headers: { Authorization: undefined, Cookie: undefined } }),
  invalid_token: (call) => send(call, { headers: bearer("wrong") }),
  not_found: (call) => send(call),
  request_timeout: (call) => announce(call, 100),
  payload_too_large: (call) => announce(call, 100 << 20),
  unsupported_media_type: (call) => [
    ...otherTypes
      .filter((type) => !(call.operation.about.form && type.includes("form")))
      .map((type) => send(call, { headers: { "Content-Type": type } })),
    send(call, { headers: { "Content-Type": undefined }, body: new Uint8Array([123, 125]) }),
  ],
  unsupported_encoding: (call) => send(call, { headers: { "Content-Encoding": "compress" } }),
  access_denied: async (call) => {
    const { scope = "none" } = call.operation;
    const others = scopes.filter((one) => one !== scope);
    if (scope !== "none") return send(call, { headers: bearer(await logIn(server, userId, "m", others)) });
    return send(call, { headers: { Authorization: undefined, Cookie: cookie, Origin: "https://evil.example" } });
  },
  precondition_required: (call) => send(call, { headers: { "If-None-Match": undefined } }),
  precondition_failed: (call) => send(call, { headers: { "If-None-Match": undefined, "If-Match": '"0A0A0A0A"' } }),
  invalid_part: (call) => send(call, { body: "other bytes" }),
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

const special: Record<string, Provoke> = {
  "/api/pictures/{sha256} not_found": ({ method, operation }) =>
    fetch(`${server.url}/api/pictures/none`, { method, headers: { ...fromElsewhere(), ...authorization(operation) } }),
  "/api/originals/parts/{sha256} not_found": ({ method, operation }) =>
    fetch(`${server.url}/api/originals/parts/none`, {
      method,
      headers: { ...fromElsewhere(), ...authorization(operation) },
    }),
  "/api/originals/key not_found": async (call) => {
    await pool().query("delete from original_key");
    return send(call);
  },
  "/api/originals/{source}/{sourceId} not_found": ({ method, operation }) =>
    fetch(`${server.url}/api/originals/x/${"y".repeat(limits.trace.sourceId + 1)}`, {
      method,
      headers: { ...fromElsewhere(), ...authorization(operation) },
    }),
  "/api/originals/{source}/{sourceId} parts_missing": async (call) => {
    await pool().query("delete from original_part");
    return send(call);
  },
  "/api/originals/{source}/{sourceId} session_deleted": async ({ method, operation }) => {
    await pool().query(
      `insert into trace (user_id, id, source, source_id, message_count, token_count, content_hash, upload_sequence,
         activity_at, deleted_at) values ($1, gen_random_uuid(), 'claude-code', 'gone', 0, 0, '', 0, now(), now())`,
      [userId],
    );
    return fetch(`${server.url}/api/originals/claude-code/gone`, {
      method,
      headers: { ...authorization(operation), "Content-Type": "application/json", "If-None-Match": "*" },
      body: JSON.stringify(operation.about.example?.body),
    });
  },
  "/api/originals/{source}/{sourceId} rate_limited": async (call) => {
    const carol = await makeUser({ name: "Carol", email: "carol@example.org", password: "" });
    const headers = bearer(await logIn(server, carol, "m", scopes));
    return exhaustMany(`original:${carol}`, limits.originals.manifestsPerMinutePerUser, () => send(call, { headers }));
  },
  "/api/shared/{link}/pictures/{sha256} rate_limited": (call) => {
    const [address, limit] = [someAddress(), limits.pictures.sharedPerMinutePerNetwork];
    return exhaustMany(`shared-picture:${address}`, limit, () => send(call, { headers: fromElsewhere(address) }));
  },
  "/api/cli/device/start rate_limited": (call) => exhaustFrom(call),
  "/api/cli/telemetry rate_limited": (call) => exhaustFrom(call),
  "/api/mcp rate_limited": async (call) => {
    const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    const headers = bearer(await logIn(server, bob));
    return exhaustMany(`mcp:${bob}`, limits.mcp.callsPerMinutePerUser, () => send(call, { headers }));
  },
  "/api/auth/{path} not_found": ({ method }) =>
    fetch(`${server.url}/api/auth/verify-password`, { method, headers: fromElsewhere() }),
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
  const described = getAnswer(operation.path, method.toLowerCase(), String(status));
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
    (Object.keys(listErrors(operation)) as ErrorCode[]).map((code) => ({ operation, method, code })),
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
    for (const response of [provoke?.(call) ?? []].flat()) await expectExample(call, await response);
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
    const waited = "Too many searches, exports and counts are running. Try again when yours are done.";
    const chance: unknown[] = [waited, errorTable.overloaded.detail];
    const examples = getAnswer(path, "get", "503")?.content?.["application/problem+json"]?.examples;
    const documented = (examples?.overloaded?.value as { detail: string } | undefined)?.detail;
    const body = await response.json();
    const detail = chance.includes(body.detail) && chance.includes(documented) ? documented : body.detail;
    return new Response(JSON.stringify({ ...body, detail }), response);
  }

  test("internal, which any operation may answer", async () => {
    await pool().query("alter table trace rename to trace_away");
    const response = await get(server, "/api/traces", token);
    await pool().query("alter table trace_away rename to trace");
    const documented = getAnswer("/api/traces", "get", "default")?.content?.["application/problem+json"];
    expect([response.status, await response.json()]).toEqual([
      500,
      { ...(documented?.examples?.internal?.value as object), requestId: response.headers.get("x-request-id") },
    ]);
  });

  test("not_found, where the operator set no secret, and what anonymous telemetry gets where it is off", async () => {
    await tell(tellAt, { CRON_SECRET: "", METRICS_TOKEN: "", TELEMETRY_ANONYMOUS: "off" });
    for (const call of calls.filter(isUnset))
      for (const given of [secret, "", "undefined"])
        await expectExample(call, await send(call, { headers: bearer(given) }));
    for (const call of calls.filter(isOff))
      await expectExample(call, await send(call, { headers: call.code === "invalid_token" ? bearer("wrong") : {} }));
    await tell(tellAt, { ...environment, TELEMETRY_ANONYMOUS: undefined });
  });
});

describe("while the database is away", () => {
  beforeAll(interrupt);

  test("unavailable, of every operation that needs the database", async () => {
    const away = calls.filter(isOutage);
    expect(away.length).toBeGreaterThan(15);
    for (const call of away) await expectExample(call, await send(call));
  });

  test("what needs the database is a 503", async () => {
    expect((await get(server, "/api/ready")).status).toBe(503);
    for (const headers of [bearer(token), bearer(unknownToken()), { Cookie: cookie }]) {
      await expectProblem(await fetch(`${server.url}/api/traces`, { headers }), 503, "unavailable");
    }
    await expectProblem(await post(server, "/api/ingest", { traces: [] }, bearer(token)), 503, "unavailable");
    await expectProblem(await get(server, "/api/cron", secret), 503, "unavailable");
    expect(await (await get(server, "/api/metrics", secret)).text()).toContain("spoor_database_up 0");
  });

  /** Tokens whose checksum is wrong, and what is no operator's secret. */
  const misspelt = [
    `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`,
    token.replace("spoor_", "spoon_"),
    `${token}0`,
    "spoor_",
    "x",
  ];
  const wrongSecrets = [`${secret}x`, token, unknownToken()];
  const refused = calls.filter((call) => ["missing_token", "invalid_token"].includes(call.code) && !isOff(call));

  // A query would end as a 503.
  test.each(named(refused))("%s is answered without a query", async (_, call) => {
    const isSecret = call.operation.about.secret !== undefined;
    const none = isSecret ? [undefined, ""] : [undefined];
    for (const given of call.code === "missing_token" ? none : isSecret ? wrongSecrets : misspelt) {
      const Authorization = given === undefined ? given : `Bearer ${given}`;
      await expectExample(call, await send(call, { headers: { Authorization, Cookie: undefined } }));
    }
  });

  test("health, limits and the API's description are answered as ever", async () => {
    for (const path of ["/api/health", "/api/limits", "/api/openapi.json", "/docs"]) {
      expect([path, (await get(server, path)).status]).toEqual([path, 200]);
    }
  });
});
