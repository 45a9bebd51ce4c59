import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { post, provideOwnedServer, someAddress } from "../support/server.ts";
import { card, report, storedTelemetry } from "../support/telemetry.ts";
import { bearer, expectProblem, unknownToken } from "./client.ts";

const { server, userId, token } = await provideOwnedServer({ worker: false });

const send = (body: unknown, headers: Record<string, string> = {}) =>
  post(server, "/api/cli/telemetry", body, { "X-Forwarded-For": someAddress(), ...headers });

async function accepted(body: unknown, headers?: Record<string, string>): Promise<number> {
  const response = await send(body, headers);
  const answer = (await response.json()) as { accepted: number };
  expect([response.status, answer]).toEqual([200, { ok: true, accepted: expect.any(Number), forwarded: false }]);
  return answer.accepted;
}

const diagnostic = {
  adapter: "claude-code",
  source: "~/.claude",
  totalEntries: 5,
  skippedEntries: 1,
  invalidEntries: 2,
  eventCount: 3,
  traceCount: Number.MAX_SAFE_INTEGER,
  rejectedTraces: 0,
  unhandledTypes: ["a", "b"],
  emptyParse: true,
};

describe("a submission that is accepted", () => {
  test("may have only the required fields", async () => {
    const before = await storedTelemetry();
    expect(await accepted({ ...card, deviceId: "only-required" })).toBe(0);
    expect(await storedTelemetry()).toEqual({ ...before, reports: before.reports + 1 });
  });

  test("is stored with every field, and `accepted` is the number of diagnostics", async () => {
    const body = report({
      schema: 2.5,
      sentAt: "2026-11-20T10:00:00Z",
      diagnostics: [diagnostic, { adapter: "codex-cli" }],
      events: [{ name: "scan", properties: { deep: { list: [1, "two", null] } } }, { name: "bare" }],
      unknown: { kept: false },
    });
    expect(await accepted(body)).toBe(2);
    const { rows } = await pool().query(
      `select r.schema, r.sent_at, r.user_id, d.*, r.id as report from telemetry_report r join diagnostic d on d.report_id = r.id
       where device_id = $1 order by position`,
      [body.deviceId],
    );
    expect(rows).toMatchObject([
      {
        schema: 2.5,
        sent_at: "2026-11-20T10:00:00Z",
        user_id: null,
        position: 0,
        adapter: "claude-code",
        source: "~/.claude",
        total_entries: "5",
        skipped_entries: "1",
        invalid_entries: "2",
        event_count: "3",
        trace_count: "9007199254740991",
        rejected_traces: "0",
        unhandled_types: ["a", "b"],
        empty_parse: true,
      },
      {
        position: 1,
        adapter: "codex-cli",
        source: null,
        total_entries: "0",
        trace_count: "0",
        unhandled_types: [],
        empty_parse: false,
      },
    ]);
    const events = await pool().query(
      "select name, properties from client_event where report_id = $1 order by position",
      [rows[0].report],
    );
    expect(events.rows).toEqual([
      { name: "scan", properties: { deep: { list: [1, "two", null] } } },
      { name: "bare", properties: {} },
    ]);
  });

  test("may reach every limit", async () => {
    const full = {
      ...diagnostic,
      adapter: "a".repeat(64),
      source: "s".repeat(512),
      unhandledTypes: Array(200).fill("u".repeat(128)),
    };
    const body = {
      ...card,
      deviceId: "d".repeat(128),
      cliVersion: "v".repeat(32),
      platform: "p".repeat(32),
      arch: "a".repeat(32),
      command: "c".repeat(64),
      sentAt: "s".repeat(40),
      diagnostics: [full, ...Array(199).fill({ adapter: "a" })],
      events: Array(50).fill({ name: "n".repeat(128), properties: { p: "x".repeat(16 * 1024 - 8) } }),
    };
    expect(await accepted(body, bearer(token))).toBe(200);
    expect(
      await accepted(report({ cliVersion: "", platform: "", arch: "", command: "", sentAt: "", events: [] })),
    ).toBe(0);
  });

  test("with text that PostgreSQL can't hold is stored with U+FFFD", async () => {
    const odd = "a\0\ud800z";
    const body = report({
      command: odd,
      diagnostics: [{ adapter: odd, source: odd, unhandledTypes: [odd] }],
      events: [{ name: odd, properties: { [odd]: [odd], plain: "\\u0000 \\ud800" } }],
    });
    expect(await accepted(body)).toBe(1);
    const { rows } = await pool().query(
      `select command, adapter, source, unhandled_types, name, properties
       from telemetry_report r join diagnostic d on d.report_id = r.id join client_event e on e.report_id = r.id where device_id = $1`,
      [body.deviceId],
    );
    const mended = "a\ufffd\ufffdz";
    expect(rows).toEqual([
      {
        command: mended,
        adapter: mended,
        source: mended,
        unhandled_types: [mended],
        name: mended,
        properties: { [mended]: [mended], plain: "\\u0000 \\ud800" },
      },
    ]);
  });

  test.each([100, 7000])(
    "with properties nested %i deep is accepted or refused, without a server error",
    async (depth) => {
      const nested = `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
      const response = await send(
        JSON.stringify(report({ events: [{ name: "deep", properties: "HERE" }] })).replace('"HERE"', nested),
      );
      expect([200, 400]).toContain(response.status);
    },
  );

  test("is attributed by a valid token, and accepted with an invalid one", async () => {
    const cases: [Record<string, string>, string | null][] = [
      [bearer(token), userId],
      [bearer(unknownToken()), null],
      [bearer("x"), null],
      [{ Authorization: "Basic YTpi" }, null],
      [{}, null],
    ];
    for (const [headers, expected] of cases) {
      const body = report({ diagnostics: [{ adapter: "a" }] });
      expect(await accepted(body, headers)).toBe(1);
      const { rows } = await pool().query("select user_id from telemetry_report where device_id = $1", [body.deviceId]);
      expect(rows).toEqual([{ user_id: expected }]);
    }
  });
});

describe("an invalid submission", () => {
  const without = (field: keyof typeof card) =>
    Object.fromEntries(Object.entries(card).filter(([name]) => name !== field));
  const item = (more: object) => report({ diagnostics: [{ adapter: "a", ...more }] });
  const event = (more: object) => report({ events: [{ name: "n", properties: {}, ...more }] });
  const counts = ["totalEntries", "skippedEntries", "invalidEntries", "eventCount", "traceCount", "rejectedTraces"];

  const wrong: [name: string, body: unknown, path: string][] = [
    ["an array", [], ""],
    ...(["schema", "deviceId", "cliVersion", "platform", "arch", "command", "diagnostics"] as const).map(
      (field): [string, unknown, string] => [`no ${field}`, without(field), field],
    ),
    ["a schema that is a string", report({ schema: "1" }), "schema"],
    ["an empty deviceId", report({ deviceId: "" }), "deviceId"],
    ["a deviceId of 129", report({ deviceId: "d".repeat(129) }), "deviceId"],
    ["a deviceId that is a number", report({ deviceId: 1 }), "deviceId"],
    ["a cliVersion of 33", report({ cliVersion: "v".repeat(33) }), "cliVersion"],
    ["a platform of 33", report({ platform: "p".repeat(33) }), "platform"],
    ["an arch of 33", report({ arch: "a".repeat(33) }), "arch"],
    ["a command of 65", report({ command: "c".repeat(65) }), "command"],
    ["a sentAt of 41", report({ sentAt: "s".repeat(41) }), "sentAt"],
    ["201 diagnostics", report({ diagnostics: Array(201).fill({ adapter: "a" }) }), "diagnostics"],
    ["51 events", report({ events: Array(51).fill({ name: "n", properties: {} }) }), "events"],
    ["diagnostics that are no array", report({ diagnostics: {} }), "diagnostics"],
    ["a diagnostic that is no object", report({ diagnostics: ["a"] }), "diagnostics.0"],
    ["a diagnostic without adapter", report({ diagnostics: [{ source: "s" }] }), "diagnostics.0.adapter"],
    ["an empty adapter", item({ adapter: "" }), "diagnostics.0.adapter"],
    ["an adapter of 65", item({ adapter: "a".repeat(65) }), "diagnostics.0.adapter"],
    ["a source of 513", item({ source: "s".repeat(513) }), "diagnostics.0.source"],
    ...counts.map((field): [string, unknown, string] => [
      `${field} over 2^53-1`,
      item({ [field]: 2 ** 53 }),
      `diagnostics.0.${field}`,
    ]),
    ["a count below zero", item({ totalEntries: -1 }), "diagnostics.0.totalEntries"],
    ["a count with a fraction", item({ totalEntries: 0.5 }), "diagnostics.0.totalEntries"],
    ["a count that is a string", item({ totalEntries: "1" }), "diagnostics.0.totalEntries"],
    ["201 unhandledTypes", item({ unhandledTypes: Array(201).fill("u") }), "diagnostics.0.unhandledTypes"],
    ["an unhandled type of 129", item({ unhandledTypes: ["u", "u".repeat(129)] }), "diagnostics.0.unhandledTypes.1"],
    ["an emptyParse that is no boolean", item({ emptyParse: "yes" }), "diagnostics.0.emptyParse"],
    ["an event without name", report({ events: [{ properties: {} }] }), "events.0.name"],
    ["an event with an empty name", event({ name: "" }), "events.0.name"],
    ["an event's name of 129", event({ name: "n".repeat(129) }), "events.0.name"],
    ["properties that are an array", event({ properties: [] }), "events.0.properties"],
    ["properties over 16 KiB", event({ properties: { p: "x".repeat(16 * 1024 - 7) } }), "events.0.properties"],
    ["properties over 16 KiB in UTF-8", event({ properties: { p: "\u20ac".repeat(6000) } }), "events.0.properties"],
  ];
  test.each(wrong)("is refused as a whole, with the path of the error: %s", async (_name, body, path) => {
    const before = await storedTelemetry();
    const problem = await expectProblem(await send(body), 400, "invalid_request");
    expect(problem.errors?.map((error) => error.path)).toEqual([path]);
    expect(await storedTelemetry()).toEqual(before);
  });

  test("is refused over 1 MiB, without a token over 256 KiB, and with any Content-Encoding", async () => {
    const before = await storedTelemetry();
    const own = bearer(token);
    const pad = (length: number) => {
      const body = JSON.stringify(report({ x: "" }));
      return body.replace('"x":""', `"x":"${"x".repeat(length - body.length)}"`);
    };
    const readDetail = async (body: string, headers?: Record<string, string>) =>
      (await expectProblem(await send(body, headers), 413, "payload_too_large")).detail;
    expect(await readDetail(pad(1024 * 1024 + 1), own)).toContain("1048576");
    expect(await readDetail(pad(256 * 1024 + 1))).toContain("262144");
    expect(await readDetail(pad(256 * 1024 + 1), bearer(unknownToken()))).toContain("262144");
    await expectProblem(await send(card, { "Content-Encoding": "gzip" }), 415, "unsupported_encoding");
    expect(await storedTelemetry()).toEqual(before);
    expect((await send(pad(1024 * 1024), own)).status).toBe(200);
    expect((await send(pad(256 * 1024))).status).toBe(200);
  });

  test("is refused where it is nested 200,000 deep, without a server error", async () => {
    const nested = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    const body = JSON.stringify(event({ properties: "HERE" })).replace('"HERE"', nested);
    await expectProblem(await send(body, bearer(token)), 400, "invalid_request");
  });
});

describe("the budgets of a day", () => {
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
