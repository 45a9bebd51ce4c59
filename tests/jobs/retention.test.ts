import { expect, test } from "vitest";
import { purgeSignIns } from "#lib/auth/sign-ins";
import { pool } from "#lib/db/client";
import { purgeLogins } from "#lib/device/login";
import { purgeReports, recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

async function all<T>(sql: string): Promise<T[]> {
  return (await pool().query<{ value: T }>(sql)).rows.map(({ value }) => value);
}

test("telemetry is deleted after 90 days with everything that belongs to it, and not before", async () => {
  for (const [deviceId, age] of [
    ["kept", "89 days 23 hours"],
    ["gone", "90 days 1 minute"],
  ]) {
    const sent = { schema: 1, deviceId, cliVersion: "1", platform: "p", arch: "a", command: "scan" };
    const parts = { diagnostics: [{ adapter: deviceId }], events: [{ name: deviceId, properties: {} }] };
    await recordTelemetry(telemetryRequest.parse({ ...sent, ...parts }), { userId, machine: deviceId ?? "" });
    await pool().query("update telemetry_report set received_at = now() - $2::interval where device_id = $1", [
      deviceId,
      age,
    ]);
  }
  expect(await purgeReports()).toBe(1);
  expect(await all("select device_id as value from telemetry_report")).toEqual(["kept"]);
  expect(await all("select adapter as value from diagnostic")).toEqual(["kept"]);
  expect(await all("select name as value from client_event")).toEqual(["kept"]);
  expect(await purgeReports()).toBe(0);
});

test("expired sign-ins, and values of sign-ins that were begun, are deleted, and no others", async () => {
  for (const [name, until] of [
    ["gone", "-1 minute"],
    ["kept", "1 minute"],
  ]) {
    await pool().query("insert into session (user_id, token, expires_at) values ($1, $2, now() + $3::interval)", [
      userId,
      name,
      until,
    ]);
    await pool().query(
      "insert into verification (identifier, value, expires_at) values ($1, '', now() + $2::interval)",
      [name, until],
    );
  }
  await purgeSignIns();
  expect(await all("select token as value from session")).toEqual(["kept"]);
  expect(await all("select identifier as value from verification")).toEqual(["kept"]);
});

test("device logins go a day after they were over", async () => {
  for (const [machine, age] of [
    ["gone", "24 hours 1 minute"],
    ["kept", "23 hours"],
  ]) {
    await pool().query(
      `insert into device_login (device_code_hash, user_code_hash, machine, ip_address, expires_at)
       values ($1, $1, $2, '', now() - $3::interval)`,
      [Buffer.from(machine ?? ""), machine, age],
    );
  }
  expect(await purgeLogins()).toBe(1);
  expect(await all("select machine as value from device_login")).toEqual(["kept"]);
});
