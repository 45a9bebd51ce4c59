import { expect, test } from "vitest";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { countCost } from "#lib/telemetry/budget";
import { limitDevice, recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { isLong } from "../support/long.ts";
import { isDistributed } from "../support/nodes.ts";
import { makeNoise } from "../support/random.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

const many = <T>(length: number, make: (n: number) => T) => Array.from({ length }, (_, n) => make(n));

/** Reports that take as much as possible for their size, by what they have most of. */
const shapes: [what: string, count: number, parts: (round: number) => object][] = [
  ["a new device", 150, () => ({})],
  ["small diagnostics of one adapter", 20, () => ({ diagnostics: many(200, () => ({ adapter: "a" })) })],
  ["small diagnostics of many adapters", 20, () => ({ diagnostics: many(200, (n) => ({ adapter: `a${n}` })) })],
  ["ever new adapters", 20, (round) => ({ diagnostics: many(200, (n) => ({ adapter: `n${round}-${n}` })) })],
  [
    "events of numbers",
    10,
    () => ({ events: many(15, () => ({ name: "e", properties: { l: many(8000, () => (Math.random() * 10) | 0) } })) }),
  ],
  ["small events", 100, () => ({ events: many(50, () => ({ name: "e" })) })],
  [
    "events of a page's third",
    12,
    () => ({ events: many(50, () => ({ name: "e", properties: { t: makeNoise(2100) } })) }),
  ],
  [
    "events of a page's half",
    12,
    () => ({ events: many(50, () => ({ name: "e", properties: { t: makeNoise(4000) } })) }),
  ],
  [
    "types",
    10,
    () => ({ diagnostics: many(200, (n) => ({ adapter: `a${n}`, unhandledTypes: many(10, () => makeNoise(100)) })) }),
  ],
  [
    "types that are counted by name",
    10,
    () => ({
      diagnostics: many(200, (n) => ({
        adapter: `t${n}`,
        unhandledTypes: many(20, (type) => `${type}${"\u985e".repeat(62)}`),
      })),
    }),
  ],
  [
    "one type of each adapter that has many",
    20,
    () => ({ diagnostics: many(200, (n) => ({ adapter: `t${n}`, unhandledTypes: ["x"] })) }),
  ],
];

test("a stranger who sends another's device id does not use up that device's limit", async () => {
  const stranger = () => limitDevice("0b3d", undefined);
  for (let count = 0; count < limits.telemetry.perMinutePerDevice; count += 1) await stranger();
  await expect(stranger()).rejects.toThrow(SpoorError);
  await limitDevice("0b3d", { userId, machine: "laptop" });
});

const tables = [
  ...["telemetry_report", "diagnostic", "client_event", "forward_outbox", "telemetry_device"],
  ...["diagnostic_day", "diagnostic_machine"],
];

/** What the tables take that reports are stored in: other work of this process writes counters meanwhile. */
async function storedBytes(): Promise<number> {
  const size = isDistributed ? "citus_total_relation_size" : "pg_total_relation_size";
  const { rows } = await pool().query(
    `select sum(${size}(name::regclass))::float8 as bytes from unnest($1::text[]) as name`,
    [tables],
  );
  return rows[0].bytes;
}

/** Of each kind of row that a report adds, one. */
const quick = new Set([
  "a new device",
  "ever new adapters",
  "events of a page's half",
  "types that are counted by name",
]);

test.each(shapes.filter(([what]) => isLong || quick.has(what)))(
  "a report counts for at least what it adds to the database: %s",
  async (_what, count, parts) => {
    let before = 0;
    let cost = 0;
    for (let round = 0; round <= count; round += 1) {
      if (round === 1) before = await storedBytes(); // a table's first rows also create its free space map
      const head = { schema: 1, deviceId: makeNoise(100), cliVersion: "1", platform: "p", arch: "a", command: "c" };
      const sent = { ...head, diagnostics: [], ...parts(round) };
      const submission = telemetryRequest.parse(sent);
      if (round > 0) cost += countCost(submission, Buffer.byteLength(JSON.stringify(sent)));
      await recordTelemetry(submission, undefined);
    }
    const grown = (await storedBytes()) - before;
    expect(grown).toBeLessThan(cost);
  },
);
