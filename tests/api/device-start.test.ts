import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { post, provideServer, someAddress } from "../support/server.ts";
import { asResponse, expectProblem, openRequest } from "./client.ts";

const server = await provideServer({ worker: false });

type Started = { deviceCode: string; userCode: string; expiresAt: string; [field: string]: unknown };

const begin = (body: unknown, headers: Record<string, string> = {}) =>
  post(server, "/api/cli/device/start", body, { "X-Forwarded-For": someAddress(), ...headers });
const start = async () => (await (await begin({ machine: "m" })).json()) as Started;

describe("a start", () => {
  test("from an IPv6 address with a long zone counts for that address", async () => {
    const zone = `${"a".repeat(300)}:b:c:d:e:f:g:h`;
    expect((await begin({ machine: "zone" }, { "X-Forwarded-For": `2001:db8::7%${zone}` })).status).toBe(200);
    const { rows } = await pool().query("select ip_address from device_login where machine = 'zone'");
    expect(rows).toEqual([{ ip_address: "2001:db8::7" }]);
  });

  test("answers the documented fields, with URIs from BASE_URL whatever Host says", async () => {
    const { request, answer } = openRequest(server, "/api/cli/device/start", {
      headers: {
        Host: "evil.example",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-For": someAddress(),
      },
    });
    request.end('{"machine":"m","unknown":true}');
    const response = asResponse(await answer);
    expect(response.status).toBe(200);
    const body = (await response.json()) as Started;
    expect(body).toEqual({
      ok: true,
      deviceCode: expect.stringMatching(/^[\w-]{43}$/),
      userCode: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verificationUri: `${server.url}/device`,
      verificationUriComplete: `${server.url}/device?code=${body.userCode}`,
      expiresIn: 600,
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      interval: 5,
    });
    const secondsLeft = (Date.parse(body.expiresAt) - Date.now()) / 1000;
    expect(secondsLeft).toBeGreaterThan(590);
    expect(secondsLeft).toBeLessThan(605);
  });

  test("never issues a code twice", async () => {
    const codes = await Promise.all(Array.from({ length: 50 }, () => start()));
    expect(new Set(codes.map(({ deviceCode }) => deviceCode)).size).toBe(50);
    expect(new Set(codes.map(({ userCode }) => userCode)).size).toBe(50);
  });

  test.each([
    ["  ada \t", "ada"],
    ["a\0d\u001ba\u007f\u0085", "ada"],
    ["\u202eada\u2066\u200f\u061c", "ada"],
    ["<b>ada</b>", "<b>ada</b>"],
    [`${"x".repeat(256)}   `, "x".repeat(256)],
    ["Ada\u2019s \u{1f4bb}", "Ada\u2019s \u{1f4bb}"],
  ])("keeps the machine %j as %j", async (machine, kept) => {
    const { deviceCode } = (await (await begin({ machine })).json()) as Started;
    const hash = createHash("sha256").update(deviceCode).digest();
    const { rows } = await pool().query("select machine from device_login where device_code_hash = $1", [hash]);
    expect(rows).toEqual([{ machine: kept }]);
  });

  const wrong = [
    {},
    { machine: 7 },
    { machine: null },
    { machine: "" },
    { machine: " \n\u202e\0 " },
    { machine: "x".repeat(257) },
  ];
  test.each(wrong)("refuses %j", async (body) => {
    const { rows: before } = await pool().query("select count(*) from device_login");
    const problem = await expectProblem(await begin(body), 400, "invalid_request");
    expect(problem.errors?.map(({ path }) => path)).toEqual(["machine"]);
    expect((await pool().query("select count(*) from device_login")).rows).toEqual(before);
  });

  test.each([[[]], ["read"], [["read", "write"]], [["READ"]], [[7]], [{ read: true }], [null], [[["read"]]]])(
    "refuses the scopes %j",
    async (scopes) => {
      const problem = await expectProblem(await begin({ machine: "m", scopes }), 400, "invalid_request");
      expect(problem.errors?.every(({ path }) => /^scopes(\.\d)?$/.test(path))).toBe(true);
    },
  );

  test("refuses a body over 4 KiB, declared or in chunks, and one of 4 KiB not for its size", async () => {
    const pad = (length: number) => `{"machine":"m","x":"${"x".repeat(length - 22)}"}`;
    expect((await begin(pad(4096))).status).toBe(200);
    expect((await expectProblem(await begin(pad(4097)), 413, "payload_too_large")).detail).toContain("4096");
    const { request, answer } = openRequest(server, "/api/cli/device/start", {
      headers: { "X-Forwarded-For": someAddress() },
    });
    request.write(pad(4097));
    request.end();
    await expectProblem(asResponse(await answer), 413, "payload_too_large");
  });
});
