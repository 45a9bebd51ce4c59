import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { isLong } from "../support/long.ts";
import { get, post, provideOwnedServer, someAddress } from "../support/server.ts";
import { countCalls, expectProblem, sessionCookie } from "./client.ts";

const { server } = await provideOwnedServer({ worker: false });

const from = (address: string) => ({ "X-Forwarded-For": address });
const start = (address: string, body: unknown = { machine: "m" }) =>
  post(server, "/api/cli/device/start", body, from(address));
const poll = (code: string, address: string) =>
  fetch(`${server.url}/api/cli/device/poll?deviceCode=${code}`, { headers: from(address) });
const report = (deviceId: string, address: string, body: object = {}) =>
  post(
    server,
    "/api/cli/telemetry",
    { schema: 1, deviceId, cliVersion: "1", platform: "linux", arch: "x64", command: "scan", diagnostics: [], ...body },
    from(address),
  );
const times = <T>(count: number, call: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => call(n)));
const count = (answers: Response[], status: number) => answers.filter((one) => one.status === status).length;
const retryAfter = (response: Response) => Number(response.headers.get("retry-after"));

describe("device logins", () => {
  test("the 21st start of an address in ten minutes is refused, and another address's is not", async () => {
    const address = someAddress();
    expect(count(await times(20, () => start(address)), 200)).toBe(20);
    const refused = await start(address);
    expect(retryAfter(refused)).toBeGreaterThan(500);
    expect(retryAfter(refused)).toBeLessThanOrEqual(600);
    await expectProblem(refused, 429, "rate_limited");
    expect((await start(someAddress())).status).toBe(200);
  });

  test("of 25 concurrent starts exactly twenty are accepted", async () => {
    const address = someAddress();
    const answers = await times(25, () => start(address));
    expect([count(answers, 200), count(answers, 429)]).toEqual([20, 5]);
    const { rows } = await pool().query("select count(*)::int as logins from device_login where ip_address = $1", [
      address,
    ]);
    expect(rows).toEqual([{ logins: 20 }]);
  });

  test("an address that a client puts before a proxy's does not count", async () => {
    const address = someAddress();
    await times(20, () => start(address));
    await expectProblem(await start(`${someAddress()}, ${address}`), 429, "rate_limited");
  });

  test("a forwarded address that is malformed is no server error", async () => {
    const addresses = ["unknown", "x".repeat(400), "::1%eth0", ","];
    const statuses = [];
    for (const address of addresses) statuses.push((await start(address)).status);
    expect(statuses).toEqual(addresses.map(() => 200));
  });

  test("the 61st poll of a code in a minute is refused whatever address it comes from", async () => {
    const { deviceCode } = (await (await start(someAddress())).json()) as { deviceCode: string };
    expect(count(await times(60, () => poll(deviceCode, someAddress())), 202)).toBe(60);
    const refused = await poll(deviceCode, someAddress());
    expect(retryAfter(refused)).toBeLessThanOrEqual(60);
    await expectProblem(refused, 429, "slow_down");
  });

  test("ten wrong user codes block a person, whatever address each comes from", async () => {
    const Cookie = await sessionCookie(server);
    const page = async (code: string) =>
      (await fetch(`${server.url}/device?code=${code}`, { headers: { Cookie, ...from(someAddress()) } })).text();
    const { userCode } = (await (await start(someAddress())).json()) as { userCode: string };
    expect(await page(userCode)).toContain("Approve this login?");
    for (let wrong = 0; wrong < 10; wrong += 1) expect(await page("BCDF-GHJK")).toContain("no login with this code");
    expect(await page(userCode)).toContain("Too many codes");
  });

  test("the 301st poll of an address in a minute is refused whatever its code", async () => {
    const address = someAddress();
    const sent = isLong ? 299 : 20;
    expect(count(await times(sent, (n) => poll(`code-${n}`, address)), 400)).toBe(sent);
    if (!isLong) await countCalls(`device-poll-ip:${address}`, 279);
    expect((await poll("the 300th", address)).status).toBe(400);
    await expectProblem(await poll("another", address), 429, "slow_down");
    expect((await poll("another", someAddress())).status).toBe(400);
  });
});

describe("telemetry", () => {
  test("the 61st submission of an address in a minute is refused, valid or not, and stores nothing", async () => {
    const address = someAddress();
    expect(count(await times(60, (n) => report(`device-${n}`, address)), 200)).toBe(60);
    const { rows: before } = await pool().query("select count(*) from telemetry_report");
    const refused = await report("device-61", address);
    expect(retryAfter(refused)).toBeLessThanOrEqual(60);
    await expectProblem(refused, 429, "rate_limited");
    await expectProblem(await post(server, "/api/cli/telemetry", "{", from(address)), 429, "rate_limited");
    expect((await pool().query("select count(*) from telemetry_report")).rows).toEqual(before);
    expect((await report("device-61", someAddress())).status).toBe(200);
  });

  test("the 31st submission of a device in a minute is refused whatever address it comes from", async () => {
    expect(count(await times(30, () => report("busy", someAddress())), 200)).toBe(30);
    await expectProblem(await report("busy", someAddress()), 429, "rate_limited");
    expect((await report("calm", someAddress())).status).toBe(200);
    const { rows } = await pool().query("select count(*)::int as n from telemetry_report where device_id = 'busy'");
    expect(rows).toEqual([{ n: 30 }]);
  });

  test("a device id of the maximum length is counted like any other", async () => {
    expect((await report("\uffee".repeat(128), someAddress())).status).toBe(200);
  });
});

test("health is never refused", async () => {
  expect(count(await times(200, () => get(server, "/api/health")), 200)).toBe(200);
});
