import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { decideLogin, findLogin } from "#lib/device/login";
import { findResidue } from "../support/residue.ts";
import { get, makeUser, owner, post, provideOwnedServer, someAddress } from "../support/server.ts";
import { bearer, expectProblem, tokenChecksum } from "./client.ts";

const { server, userId } = await provideOwnedServer({ worker: false });

type Started = { deviceCode: string; userCode: string; expiresAt: string; [field: string]: unknown };
type Approved = { token: string; expiresAt: string; [field: string]: unknown };

const sha256 = (text: string) => createHash("sha256").update(text).digest();
const begin = (body: unknown, headers: Record<string, string> = {}) =>
  post(server, "/api/cli/device/start", body, { "X-Forwarded-For": someAddress(), ...headers });
const start = async (machine = "ada-laptop") => (await (await begin({ machine })).json()) as Started;
const poll = (deviceCode: string) =>
  fetch(`${server.url}/api/cli/device/poll?deviceCode=${deviceCode}`, {
    headers: { "X-Forwarded-For": someAddress() },
  });
const change = (deviceCode: string, set: string) =>
  pool().query(`update device_login set ${set} where device_code_hash = $1`, [sha256(deviceCode)]);

async function decide(deviceCode: string, decision: "approved" | "denied", by = userId): Promise<boolean> {
  const { rows } = await pool().query("select id from device_login where device_code_hash = $1", [sha256(deviceCode)]);
  return decideLogin(by, rows[0]?.id, decision, operator);
}

async function redeemed(machine?: string): Promise<Approved & { deviceCode: string; userCode: string }> {
  const { deviceCode, userCode } = await start(machine);
  expect(await decide(deviceCode, "approved")).toBe(true);
  const response = await poll(deviceCode);
  expect(response.status).toBe(200);
  return { ...((await response.json()) as Approved), deviceCode, userCode };
}

describe("a poll", () => {
  test("of a pending login is a 202 that says when to poll again", async () => {
    const { deviceCode } = await start();
    const response = await poll(deviceCode);
    expect([response.status, response.headers.get("retry-after")]).toEqual([202, "5"]);
    const body = (await response.json()) as { expiresIn: number };
    expect(body).toEqual({ ok: true, status: "pending", interval: 5, expiresIn: expect.any(Number) });
    expect(body.expiresIn).toBeGreaterThan(590);
    expect(body.expiresIn).toBeLessThanOrEqual(600);
  });

  test("that is too early lengthens the interval by five seconds each time, up to a minute", async () => {
    const { deviceCode } = await start();
    await poll(deviceCode);
    for (const interval of [10, 15]) {
      const response = await poll(deviceCode);
      expect([response.status, response.headers.get("retry-after")]).toEqual([202, String(interval)]);
      expect(await response.json()).toMatchObject({ status: "pending", slowDown: true, interval });
    }
    await change(deviceCode, "interval_seconds = 58");
    expect(await (await poll(deviceCode)).json()).toMatchObject({ slowDown: true, interval: 60 });
    expect(await (await poll(deviceCode)).json()).toMatchObject({ slowDown: true, interval: 60 });
    await change(deviceCode, "last_polled_at = now() - interval '60 seconds'");
    const patient = await (await poll(deviceCode)).json();
    expect(patient).toEqual({ ok: true, status: "pending", interval: 60, expiresIn: expect.any(Number) });
  });

  test.each(["", "?deviceCode=", "?deviceCode=a&deviceCode=b", `?deviceCode=${"x".repeat(129)}`, "?devicecode=x"])(
    "with the query %j is refused",
    async (query) => {
      await expectProblem(await get(server, `/api/cli/device/poll${query}`), 400, "invalid_request");
    },
  );

  test("of an unknown code is an invalid grant", async () => {
    const { deviceCode, userCode } = await start();
    const hash = sha256(deviceCode).toString("base64url");
    for (const code of ["x", "%00", "A".repeat(43), userCode, hash, deviceCode.toLowerCase()]) {
      await expectProblem(await poll(code), 400, "invalid_grant");
    }
  });

  test("after the approval returns the token once, and the login is redeemed", async () => {
    const { deviceCode } = await start();
    await decide(deviceCode, "approved");
    const response = await poll(deviceCode);
    expect(response.status).toBe(200);
    const body = (await response.json()) as Approved;
    expect(body).toEqual({
      ok: true,
      status: "approved",
      token: expect.stringMatching(/^spoor_[0-9A-Za-z]{36}$/),
      tokenType: "Bearer",
      userId,
      user: { name: owner.name, email: owner.email },
      machine: "ada-laptop",
      scopes: ["ingest", "read"],
      expiresAt: expect.stringMatching(/Z$/),
    });
    const days = (Date.parse(body.expiresAt) - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(90, 1);
    await expectProblem(await poll(deviceCode), 409, "already_consumed");
  });

  test("of a denied login is access_denied, and an approval afterwards changes nothing", async () => {
    const { deviceCode } = await start();
    expect(await decide(deviceCode, "denied")).toBe(true);
    await expectProblem(await poll(deviceCode), 403, "access_denied");
    expect(await decide(deviceCode, "approved")).toBe(false);
    await expectProblem(await poll(deviceCode), 403, "access_denied");
  });

  test("of an expired login is expired_token, and it can't be approved any more", async () => {
    const { deviceCode } = await start();
    await change(deviceCode, "expires_at = now()");
    await expectProblem(await poll(deviceCode), 410, "expired_token");
    expect(await decide(deviceCode, "approved")).toBe(false);
    await expectProblem(await poll(deviceCode), 410, "expired_token");
  });

  test("up to a minute after an approval in the last second still gets the token, and later does not", async () => {
    const { deviceCode: inTime } = await start();
    await decide(inTime, "approved");
    await change(inTime, "expires_at = now() - interval '57 seconds', decided_at = now() - interval '58 seconds'");
    expect((await poll(inTime)).status).toBe(200);
    const { deviceCode: late } = await start();
    await decide(late, "approved");
    await change(late, "expires_at = now() - interval '60 seconds', decided_at = now() - interval '61 seconds'");
    await expectProblem(await poll(late), 410, "expired_token");
  });

  test("by HEAD is a 405 that redeems nothing", async () => {
    const { deviceCode } = await start();
    await decide(deviceCode, "approved");
    const head = await fetch(`${server.url}/api/cli/device/poll?deviceCode=${deviceCode}`, { method: "HEAD" });
    expect([head.status, head.headers.get("allow")]).toEqual([405, "GET, OPTIONS"]);
    expect((await poll(deviceCode)).status).toBe(200);
  });

  test("twenty times at once after the approval creates one token", async () => {
    for (let round = 0; round < 3; round++) {
      const machine = `race-${round}`;
      const { deviceCode } = await start(machine);
      await decide(deviceCode, "approved");
      const answers = await Promise.all(Array.from({ length: 20 }, () => poll(deviceCode)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)]);
      expect((await pool().query("select 1 from cli_token where machine = $1", [machine])).rowCount).toBe(1);
    }
  });

  test("after the approving account is deleted gets no token", async () => {
    const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    const { deviceCode } = await start("orphan");
    await decide(deviceCode, "approved", bob);
    await pool().query(`delete from "user" where id = $1`, [bob]);
    await expectProblem(await poll(deviceCode), 400, "invalid_grant");
    expect((await pool().query("select 1 from cli_token where machine = 'orphan'")).rowCount).toBe(0);
  });

  test("of two concurrent decisions answers the one that took effect", async () => {
    const { deviceCode } = await start();
    const [yes, no] = await Promise.all([decide(deviceCode, "approved"), decide(deviceCode, "denied")]);
    expect([yes, no].filter(Boolean)).toHaveLength(1);
    expect((await poll(deviceCode)).status).toBe(yes ? 200 : 403);
  });
});

describe("a user code", () => {
  test("is found without regard to case, spaces and dashes", async () => {
    const { userCode } = await start("found");
    const typed = [
      userCode.toLowerCase(),
      userCode.replace("-", " "),
      ` ${userCode.replace("-", "\u2014")} `,
      [...userCode].join(" "),
    ];
    for (const text of typed) expect(await findLogin(userId, text)).toMatchObject({ machine: "found", userCode });
    expect(await findLogin(userId, userCode.slice(1))).toBeUndefined();
  });
});

describe("a token", () => {
  test("has thirty letters and digits and then their checksum", async () => {
    const { token } = await redeemed();
    expect(token.slice(-6)).toBe(tokenChecksum(token.slice(6, 36)));
  });

  test("describes itself and its user, and revokes itself", async () => {
    const { token, expiresAt } = await redeemed("ends");
    const response = await get(server, "/api/cli/session", token);
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        ok: true,
        userId,
        user: { name: owner.name, email: owner.email },
        machine: "ends",
        tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        scopes: ["ingest", "read"],
        createdAt: expect.stringMatching(/\.\d{3}Z$/),
        expiresAt,
      },
    ]);
    const ended = await fetch(`${server.url}/api/cli/session`, { method: "DELETE", headers: bearer(token) });
    expect([ended.status, await ended.text()]).toEqual([204, ""]);
    await expectProblem(await get(server, "/api/cli/session", token), 401, "invalid_token");
  });

  test("used a thousand times in a minute is recorded as used once", async () => {
    const { token } = await redeemed("busy");
    const read = async () =>
      (await pool().query("select last_used_at, xmin from cli_token where machine = 'busy'")).rows[0];
    await get(server, "/api/cli/session", token);
    const first = await read();
    expect(first.last_used_at).not.toBeNull();
    for (let n = 0; n < 10; n++)
      await Promise.all(Array.from({ length: 10 }, () => get(server, "/api/cli/session", token)));
    expect(await read()).toEqual(first);
  });
});

describe("the scopes of a token", () => {
  const asking = async (scopes: string[]) => (await (await begin({ machine: "asks", scopes })).json()) as Started;
  const grantedTo = async (deviceCode: string) => {
    const { token, scopes } = (await (await poll(deviceCode)).json()) as Approved;
    expect(await (await get(server, "/api/cli/session", token)).json()).toMatchObject({ scopes });
    return scopes;
  };

  test.each([
    [["delete"], ["delete"]],
    [
      ["delete", "read", "ingest", "read", "delete"],
      ["ingest", "read", "delete"],
    ],
    [
      ["originals", "ingest"],
      ["ingest", "originals"],
    ],
  ])("are those that its client asked for: %j, once and in order", async (asked, granted) => {
    const { deviceCode } = await asking(asked);
    await decide(deviceCode, "approved");
    expect(await grantedTo(deviceCode)).toEqual(granted);
  });

  test("are those that the person granted, where they changed them, and the audit trail says which", async () => {
    const { deviceCode, userCode } = await asking(["ingest", "delete"]);
    const login = await findLogin(userId, userCode);
    expect(login?.scopes).toEqual(["ingest", "delete"]);
    expect(await decideLogin(userId, login?.id ?? "", "approved", operator, ["ingest", "read"])).toBe(true);
    expect(await grantedTo(deviceCode)).toEqual(["ingest", "read"]);
    const { rows } = await pool().query("select action, subject from audit_event order by id desc limit 2");
    const subject = "asks (ingest, read)";
    expect(rows).toEqual([
      { action: "token_created", subject },
      { action: "login_approved", subject },
    ]);
  });

  test("of a token from before there were scopes are ingest and read", async () => {
    const { token } = await redeemed("old");
    await pool().query("update cli_token set scopes = default where machine = 'old'");
    expect(await (await get(server, "/api/cli/session", token)).json()).toMatchObject({ scopes: ["ingest", "read"] });
  });

  test("that this version does not know grant nothing", async () => {
    const { token } = await redeemed("strange");
    await pool().query("update cli_token set scopes = '{admin,READ}' where machine = 'strange'");
    expect(await (await get(server, "/api/cli/session", token)).json()).toMatchObject({ scopes: [] });
    await expectProblem(await get(server, "/api/traces", token), 403, "access_denied");
  });
});

test("no table holds a code, token or password in plain text", async () => {
  const { token, deviceCode, userCode } = await redeemed();
  const open = await start();
  const secrets = [
    token,
    token.slice(6),
    token.slice(6, 36),
    deviceCode,
    userCode,
    open.deviceCode,
    open.userCode,
    owner.password,
  ];
  const plain = [...secrets, userCode.replace("-", ""), open.userCode.replace("-", "")];
  const forms = plain.flatMap((text) => [text, text.toLowerCase(), text.toUpperCase()]);
  const needles = forms.flatMap((text) => [
    text,
    Buffer.from(text).toString("hex"),
    Buffer.from(text).toString("base64").replace(/=+$/, ""),
  ]);
  expect(await findResidue(needles)).toEqual([]);
  const { rows: kept } = await pool().query("select 1 from device_login where position($1 in device_login::text) > 0", [
    sha256(deviceCode).toString("hex"),
  ]);
  expect(kept).toHaveLength(1);
});
