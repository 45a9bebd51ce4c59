import { pool } from "#lib/db/client";

/** A report with only the required fields. */
export const card = {
  schema: 1,
  deviceId: "d",
  cliVersion: "1.0.0",
  platform: "linux",
  arch: "x64",
  command: "scan",
  diagnostics: [],
};

let device = 0;

/** Makes a report of a new device. */
export const report = (more: object) => ({ ...card, deviceId: `device-${device++}`, ...more });

/** Counts stored telemetry. */
export async function storedTelemetry() {
  const { rows } = await pool().query(
    `select (select count(*)::int from telemetry_report) as reports, (select count(*)::int from diagnostic) as diagnostics,
            (select count(*)::int from client_event) as events`,
  );
  return rows[0];
}
