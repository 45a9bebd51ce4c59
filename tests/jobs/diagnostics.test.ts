import { beforeEach, describe, expect, test } from "vitest";
import { deleteAccount } from "#lib/auth/deletion";
import { pool } from "#lib/db/client";
import { hasTelemetry, listAdapters, listDevices, listWorse } from "#lib/telemetry/diagnostics";
import { purgeReports, recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { accept, trace } from "../support/ingesting.ts";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const owner = { userId, seesAll: true };
const bob = { userId: await makeUser({ name: "Bob", email: "bob@example.org", password: "" }), seesAll: false };

beforeEach(async () => {
  for (const table of ["telemetry_report", "diagnostic_day", "diagnostic_machine", "telemetry_device"]) {
    await pool().query(`delete from ${table}`);
  }
});

const scan = { schema: 1, deviceId: "device-1", cliVersion: "1.4.2", platform: "linux", arch: "x64", command: "scan" };

async function submit(diagnostics: object[], more: object = {}, of?: { userId: string; machine?: string }) {
  const body = telemetryRequest.parse({ ...scan, diagnostics, ...more });
  await recordTelemetry(body, of && { userId: of.userId, machine: of.machine ?? "laptop" });
}

/** Moves all counts into the past. */
const age = (days: number) => pool().query("update diagnostic_day set day = day - $1::int", [days]);

const all = async (sql: string) => (await pool().query(sql)).rows;
const good = { adapter: "claude-code", totalEntries: 1000, skippedEntries: 1, traceCount: 10 };
const maxInteger = Number.MAX_SAFE_INTEGER;

describe("the page's totals", () => {
  test("are the submissions' sums by adapter, version and day, with the worst adapter first", async () => {
    for (const deviceId of ["a", "b", "c"]) {
      await submit([good, { ...good, adapter: "codex", emptyParse: deviceId === "a" }], {
        deviceId,
        cliVersion: "1.4.1",
      });
    }
    await age(1);
    const broken = { adapter: "codex", totalEntries: 10, invalidEntries: 9, rejectedTraces: 3, emptyParse: true };
    for (const [deviceId, unhandledTypes] of [
      ["a", ["compacted", "turn"]],
      ["b", ["compacted", "compacted"]],
    ] as const) {
      await submit([good, { ...broken, unhandledTypes }], { deviceId });
    }
    await submit([good], { deviceId: "c" });
    const [codex, claude, ...others] = await listAdapters(owner);
    expect(others).toEqual([]);
    expect(await listWorse(owner)).toEqual([
      { adapter: "codex", latest: "1.4.2", verdict: { change: "broke", about: "rejected" } },
    ]);
    expect(codex).toMatchObject({
      adapter: "codex",
      verdict: { change: "broke", about: "rejected" },
      types: [
        { type: "compacted", count: 2 },
        { type: "turn", count: 1 },
      ],
      versions: [
        {
          cliVersion: "1.4.2",
          scans: 2,
          entries: 20,
          skipped: 0,
          invalid: 18,
          rejected: 6,
          emptyParses: 2,
          troubledMachines: 2,
        },
        { cliVersion: "1.4.1", scans: 3, entries: 3000, skipped: 3, emptyParses: 1, troubledMachines: 1 },
      ],
    });
    expect(codex?.machines.map(({ deviceId, userName }) => [deviceId, userName])).toEqual([
      ["b", null],
      ["a", null],
    ]);
    expect(codex?.trend.slice(-3)).toEqual([null, 1 / 3, 1]);
    expect(codex?.trend.length).toBe(30);
    expect(claude).toMatchObject({
      adapter: "claude-code",
      verdict: { change: "same" },
      machines: [],
      versions: [{ scans: 3, troubledMachines: 0 }, { scans: 3 }],
    });
    await age(29);
    expect((await listAdapters(owner)).map(({ versions }) => versions.length)).toEqual([1, 1]);
  });

  test("are a user's own, and for the owner those of all users and anonymous clients", async () => {
    await submit([{ adapter: "anonymous" }], { deviceId: "nobody's" });
    await submit([{ adapter: "bobs", invalidEntries: 1 }], { deviceId: "bob's" }, bob);
    await submit([{ adapter: "owners" }], { deviceId: "owner's" }, owner);
    const seen = async (reader: typeof owner) => ({
      adapters: (await listAdapters(reader)).map(({ adapter }) => adapter).sort(),
      devices: (await listDevices(reader)).devices.map(({ deviceId }) => deviceId).sort(),
    });
    expect(await seen(bob)).toEqual({ adapters: ["bobs"], devices: ["bob's"] });
    expect(await seen(owner)).toEqual({
      adapters: ["anonymous", "bobs", "owners"],
      devices: ["bob's", "nobody's", "owner's"],
    });
    expect(await seen({ ...owner, seesAll: false })).toEqual({ adapters: ["owners"], devices: ["owner's"] });
    const stranger = {
      userId: await makeUser({ name: "Eve", email: "eve@example.org", password: "" }),
      seesAll: false,
    };
    expect([await hasTelemetry(stranger), await hasTelemetry(bob)]).toEqual([false, true]);
  });

  test("count one device of two users as two devices", async () => {
    for (const of of [bob, owner, undefined]) await submit([{ adapter: "a", invalidEntries: 1 }], {}, of);
    expect((await listAdapters(owner))[0]).toMatchObject({ versions: [{ scans: 3, troubledMachines: 3 }] });
    expect((await listAdapters(bob))[0]).toMatchObject({ versions: [{ scans: 1, troubledMachines: 1 }] });
  });

  test("are complete where many clients submit at once", async () => {
    const adapters = ["a", "b", "c", "d"].map((adapter) => ({ adapter, totalEntries: 1, unhandledTypes: ["x"] }));
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        submit(n % 2 ? adapters : [...adapters].reverse(), { deviceId: `d${n % 5}` }),
      ),
    );
    const found = await listAdapters(owner);
    expect(found.length).toBe(4);
    for (const one of found) {
      expect(one).toMatchObject({
        versions: [{ scans: 40, entries: 40, troubledMachines: 5 }],
        types: [{ type: "x", count: 40 }],
      });
    }
  });
});

describe("hostile submissions", () => {
  test('of 200 adapters with 200 types each, in new versions each day, are counted as "other" beyond the limits', async () => {
    const diagnostics = Array.from({ length: 200 }, (_, n) => ({
      adapter: `adapter-${n}`,
      totalEntries: 1,
      unhandledTypes: Array.from({ length: 200 }, (_, at) => `type-${n}-${at}`),
    }));
    for (const cliVersion of ["1", "2", "3"]) await submit(diagnostics, { cliVersion });
    const [{ rows, types, scans }] = await all(
      `select count(*)::int as rows, max((select count(*) from jsonb_object_keys(unhandled)))::int as types,
         sum(scans)::int as scans from diagnostic_day`,
    );
    expect({ rows, types, scans }).toEqual({ rows: 201, types: 21, scans: 600 });
    const adapters = await listAdapters(owner);
    expect(adapters.length).toBe(50);
    expect(adapters.some(({ adapter }) => adapter === "")).toBe(true);
  });

  test("with ever new types add them to one count, and known types are still counted separately", async () => {
    const types = (round: number) => ["known", ...Array.from({ length: 30 }, (_, at) => `type-${round}-${at}`)];
    for (const round of [1, 2, 3, 4]) await submit([{ adapter: "a", unhandledTypes: types(round) }]);
    const [{ unhandled }] = await all("select unhandled from diagnostic_day");
    expect(Object.keys(unhandled).length).toBeLessThanOrEqual(51);
    expect(unhandled.known).toBe(4);
    expect(Object.values(unhandled as Record<string, number>).reduce((a, b) => a + b)).toBe(4 * 31);
    const [adapter] = await listAdapters(owner);
    expect(adapter?.types.length).toBe(13);
    expect(adapter?.types[0]).toEqual({ type: "known", count: 4 });
    expect(adapter?.types.at(-1)?.type).toBe("");
  });

  test("of the largest integers stop counting there", async () => {
    const huge = { adapter: "a", totalEntries: maxInteger, skippedEntries: maxInteger, rejectedTraces: maxInteger };
    for (let n = 0; n < 3; n += 1) await submit(Array(200).fill(huge));
    expect((await listAdapters(owner))[0]).toMatchObject({
      versions: [{ scans: 600, entries: maxInteger, skipped: maxInteger, rejected: maxInteger }],
    });
  });

  test("with prototype fields or control characters as names are counted like others", async () => {
    const names = ["__proto__", "constructor", "toString", "\u0001\u202e\n", "'; drop table --", "<script>"];
    await submit(names.map((adapter) => ({ adapter, unhandledTypes: names })));
    await submit(names.map((adapter) => ({ adapter, unhandledTypes: names })));
    const found = await listAdapters(owner);
    expect(found.map(({ adapter }) => adapter).sort()).toEqual([...names].sort());
    for (const { types } of found) {
      expect(types.map(({ type, count }) => [type, count]).sort()).toEqual(names.map((name) => [name, 2]).sort());
    }
  });
});

describe("devices", () => {
  test("have their last scan, and the last upload of their token's machine", async () => {
    const upload = await accept(bob.userId, trace("one", "a"));
    await pool().query("update ingest_job set machine = 'bob-laptop' where id = $1", [upload]);
    await submit([], { deviceId: "by-token" }, { ...bob, machine: "bob-laptop" });
    await submit([], { deviceId: "other-machine" }, { ...bob, machine: "bob-desktop" });
    await submit([], { deviceId: "anonymous", cliVersion: "1.5.0" });
    const { devices, hasMore } = await listDevices(owner);
    expect(hasMore).toBe(false);
    expect(devices).toMatchObject([
      { deviceId: "anonymous", machine: null, userName: null, cliVersion: "1.5.0", lastUploadAt: null },
      { deviceId: "other-machine", machine: "bob-desktop", userName: "Bob", lastUploadAt: null },
      { deviceId: "by-token", machine: "bob-laptop", userName: "Bob", lastUploadAt: expect.any(Date) },
    ]);
  });

  test("are listed up to a maximum", async () => {
    for (let n = 0; n < 27; n += 1) await submit([], { deviceId: `device-${n}` });
    const { devices, hasMore } = await listDevices(owner);
    expect([devices.length, devices[0]?.deviceId, hasMore]).toEqual([25, "device-26", true]);
  });
});

test("after 90 days submissions and devices are deleted, and the daily counts stay", async () => {
  await submit([good]);
  await pool().query("update telemetry_report set received_at = now() - interval '91 days'");
  for (const table of ["diagnostic_machine", "telemetry_device"]) {
    await pool().query(`update ${table} set seen_at = now() - interval '91 days'`);
  }
  await submit([good], { deviceId: "young" });
  expect(await purgeReports()).toBe(1);
  expect(await all("select device_id from telemetry_device")).toEqual([{ device_id: "young" }]);
  expect(await all("select device_id from diagnostic_machine")).toEqual([{ device_id: "young" }]);
  expect(await all("select scans from diagnostic_day")).toEqual([{ scans: "2" }]);
});

test("daily counts are deleted after 400 days", async () => {
  await submit([good]);
  await age(402);
  await submit([good]);
  await purgeReports();
  expect(await all("select (day = (now() at time zone 'UTC')::date) as today from diagnostic_day")).toEqual([
    { today: true },
  ]);
});

test("an anonymous report's types with long names, and beyond twenty, share one count; a user's are fifty", async () => {
  const unhandledTypes = [...Array.from({ length: 60 }, (_, n) => `type-${n}`), "x".repeat(65)];
  await submit([{ adapter: "a", unhandledTypes }]);
  await submit([{ adapter: "a", unhandledTypes }], {}, bob);
  const found = await all("select unhandled from diagnostic_day order by user_id nulls first");
  expect(found.map(({ unhandled }) => Object.keys(unhandled).length)).toEqual([21, 51]);
  expect(found.map(({ unhandled }) => unhandled[""])).toEqual([41, 11]);
});

test("a deleted account's counts are deleted with it, other users' stay", async () => {
  const mallory = await makeUser({ name: "Mallory", email: "mallory@example.org", password: "" });
  await submit([good], { deviceId: "theirs" }, { userId: mallory });
  await submit([good], { deviceId: "anonymous" });
  await deleteAccount(mallory);
  expect((await listAdapters(owner))[0]).toMatchObject({ versions: [{ scans: 1 }] });
  expect((await listDevices(owner)).devices.map(({ deviceId }) => deviceId)).toEqual(["anonymous"]);
});
