import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { post, provideOwnedServer, someAddress } from "../support/server.ts";
import { report, storedTelemetry } from "../support/telemetry.ts";
import { bearer, expectProblem } from "./client.ts";

const { server, token } = await provideOwnedServer({ worker: false });

const send = (body: unknown, headers: Record<string, string>) => post(server, "/api/cli/telemetry", body, headers);

describe("the telemetry budgets of a day", () => {
  const large = () => report({ events: Array(15).fill({ name: "n", properties: { p: "x".repeat(16_000) } }) });
  const from = (address: string) => ({ "X-Forwarded-For": address });
  const untilRefused = async (headers: () => Record<string, string>): Promise<[number, Response]> => {
    for (let accepted = 0; ; accepted += 1) {
      const response = await send(large(), headers());
      if (response.status !== 200) return [accepted, response];
    }
  };

  test("end the reports of a network, of any address of an IPv6 /64, and not another network's", async () => {
    let host = 1;
    const [taken, refused] = await untilRefused(() => from(`2001:db8:1:2::${(host++).toString(16)}`));
    expect(taken).toBeGreaterThan(10);
    expect(taken * 240_000).toBeLessThan(5_000_000);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(86_000);
    expect((await expectProblem(refused, 429, "rate_limited")).detail).toContain("budget");
    const before = await storedTelemetry();
    await expectProblem(await send(report({}), from("2001:db8:1:2::ffff")), 429, "rate_limited");
    expect(await storedTelemetry()).toEqual(before);
    expect((await send(report({}), from("2001:db8:1:3::1"))).status).toBe(200);
    expect((await send(report({}), { ...from("2001:db8:1:2::1"), ...bearer(token) })).status).toBe(200);
  });

  test("refuse the 201st new device of a network, and still take the known ones", async () => {
    const address = someAddress();
    // The limit of a minute is lower.
    await pool().query("insert into rate_limit (key, points, expire) values ($1, 199, $2)", [
      `telemetry-new-devices:${address}`,
      Date.now() + 60_000,
    ]);
    const known = report({});
    expect((await send(known, from(address))).status).toBe(200);
    expect((await expectProblem(await send(report({}), from(address)), 429, "rate_limited")).detail).toContain(
      "devices",
    );
    expect((await send(known, from(address))).status).toBe(200);
    expect((await send(report({}), { ...from(address), ...bearer(token) })).status).toBe(200);
  });
});
