import { describe, expect, test } from "vitest";
import { instant, parseInstant, utcInstant } from "#lib/core/fields";
import { traceFilter } from "#lib/search/schema";
import { read } from "../ingest/batches.ts";

/** Times that are taken, each with the same time as JavaScript writes it. */
const taken: [text: string, utc: string][] = [
  ["2026-11-20T08:00:00Z", "2026-11-20T08:00:00.000Z"],
  ["2026-11-20T08:00:00z", "2026-11-20T08:00:00.000Z"],
  ["2026-11-20t08:00:00Z", "2026-11-20T08:00:00.000Z"],
  ["2026-11-20t08:00:00z", "2026-11-20T08:00:00.000Z"],
  ["2026-11-20T08:00Z", "2026-11-20T08:00:00.000Z"],
  ["2026-11-20t08:00z", "2026-11-20T08:00:00.000Z"],
  ["2026-11-20T08:00:00+02:00", "2026-11-20T06:00:00.000Z"],
  ["2026-11-20T08:00:00+0200", "2026-11-20T06:00:00.000Z"],
  ["2026-11-20T08:00:00+02", "2026-11-20T06:00:00.000Z"],
  ["2026-11-20T08:00-0330", "2026-11-20T11:30:00.000Z"],
  ["2026-11-20T08:00-03", "2026-11-20T11:00:00.000Z"],
  ["2026-11-20T08:00:00+00:00", "2026-11-20T08:00:00.000Z"],
  ["2026-11-20T08:00:00-00:00", "2026-11-20T08:00:00.000Z"],
  ["2026-11-20T00:00:00+23:59", "2026-11-19T00:01:00.000Z"],
  ["2026-11-20T08:00:00.1Z", "2026-11-20T08:00:00.100Z"],
  ["2026-11-20T08:00:00.12Z", "2026-11-20T08:00:00.120Z"],
  ["2026-11-20T08:00:00,123Z", "2026-11-20T08:00:00.123Z"],
  ["2026-11-20T08:00:00.123456Z", "2026-11-20T08:00:00.123Z"],
  ["2026-11-20T08:00:00.123999999+02:00", "2026-11-20T06:00:00.123Z"],
  [`2026-11-20T08:00:00.${"9".repeat(60)}Z`, "2026-11-20T08:00:00.999Z"],
  ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
  ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ["0000-12-31T23:00:00-01:00", "0001-01-01T00:00:00.000Z"],
  ["0099-12-31T23:59:59Z", "0099-12-31T23:59:59.000Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
  ["2016-12-31T23:59:60.7Z", "2017-01-01T00:00:00.000Z"],
  ["1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"],
];

/** Times that are refused. */
const refused = [
  "",
  "2026-11-20",
  "08:00:00Z",
  "2026-11-20T08:00:00",
  "2026-11-20T08:00",
  "2026-11-20 08:00:00Z",
  "2026-11-20T08Z",
  "2026-11-20T0800Z",
  "20261120T080000Z",
  "2026-11-20T08:00:00.Z",
  "2026-11-20T08:00.5Z",
  "2026-11-20T8:00:00Z",
  "2026-11-20T08:00:00+2",
  "2026-11-20T08:00:00+2:00",
  "2026-11-20T08:00:00+02:0",
  "2026-11-20T08:00:00+24:00",
  "2026-11-20T08:00:00+02:60",
  "2026-11-20T08:00:00ZZ",
  "2026-11-20T08:00:00Z ",
  " 2026-11-20T08:00:00Z",
  "2026-11-20T24:00:00Z",
  "2026-11-20T24:00:00.000Z",
  "2026-02-30T08:00:00.000Z",
  "2026-11-20T08:60:00Z",
  "2026-11-20T08:00:61Z",
  "2026-11-20T08:00:60Z",
  "2026-11-20T23:59:60Z",
  "2026-00-20T08:00:00Z",
  "2026-13-20T08:00:00Z",
  "2026-11-00T08:00:00Z",
  "2026-11-31T08:00:00Z",
  "2025-02-29T08:00:00Z",
  "1900-02-29T08:00:00Z",
  "26-11-20T08:00:00Z",
  "+002026-11-20T08:00:00Z",
  "-2026-11-20T08:00:00Z",
  "0000-12-31T23:59:59Z",
  "0001-01-01T00:00:00+00:01",
  "9999-12-31T23:59:59-00:01",
  "2026-W47-5T08:00:00Z",
  "Fri, 20 Nov 2026 08:00:00 GMT",
  "1763625600",
  "２026-11-20T08:00:00Z",
  `2026-11-20T08:00:00.${"1".repeat(100)}Z`,
];

const makeBatch = (createdAt: string) =>
  Buffer.from(
    JSON.stringify({ traces: [{ sourceId: "a", createdAt, messages: [{ position: 0, content: "a", createdAt }] }] }),
  );

describe("a time that is sent", () => {
  test.each(taken)("%s is taken, in a batch and as a query parameter", async (text, utc) => {
    const at = Date.parse(utc);
    expect(parseInstant(text)).toBe(at);
    expect(await read(makeBatch(text))).toMatchObject({ headers: [{ createdAt: at, lastMessageAt: at }] });
    expect(utcInstant.parse(text)).toBe(utc);
    expect(traceFilter.parse({ from: text, to: text })).toMatchObject({ from: utc, to: utc });
  });

  test.each(refused)("%j is refused, in a batch and as a query parameter", async (text) => {
    expect(await read(makeBatch(text))).toMatchObject({
      errors: [{ path: "traces.0.messages.0.createdAt" }, { path: "traces.0.createdAt" }],
    });
    expect(instant.safeParse(text).success).toBe(false);
    expect(traceFilter.safeParse({ from: text }).success).toBe(false);
  });

  test("without an offset is refused with the reason", () => {
    expect(instant.safeParse("2026-11-20T08:00:00").error?.issues[0]?.message).toBe(
      "must be an RFC 3339 or ISO 8601 date-time with an offset or Z",
    );
  });
});

test("metadata that is no object is named with its path", async () => {
  const message = { position: 0, content: "a", metadata: [] };
  const body = Buffer.from(JSON.stringify({ traces: [{ sourceId: "a", metadata: [], messages: [message] }] }));
  expect(await read(body)).toMatchObject({
    errors: [
      { path: "traces.0.messages.0.metadata", message: "must be an object" },
      { path: "traces.0.metadata", message: "must be an object" },
    ],
  });
});
