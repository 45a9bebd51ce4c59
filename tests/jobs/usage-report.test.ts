import { beforeAll, describe, expect, test } from "vitest";
import { pool, transaction } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import { answerUsage } from "#lib/usage/answer";
import { formatCsv } from "#lib/usage/csv";
import { readDigests } from "#lib/usage/digest";
import { type Figures, noFigures, type Unit, usageQuery, usageResponse } from "#lib/usage/schema";
import { getBoundaries, listSpans } from "#lib/usage/spans";
import { columns, readGone } from "#lib/usage/sql/quarters";
import { type FacetFilter, type ReportRow, readReport, rolledFacets } from "#lib/usage/sql/report";
import { fillLedger } from "../support/ledger-rows.ts";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

type Use = { at: Date; trace_id: string; facets: string } & Record<string, number | string | Date | null>;
let used: Use[] = [];
let active: Use[] = [];
const named = new Map<string, Record<string, string | null>>();

/** Reads single messages and quarters of an hour, of traces that are not deleted. */
beforeAll(async () => {
  const size = { traces: 150, messages: 1500, days: 40, until: new Date("2026-04-20T00:00:00Z") };
  await transaction((tx) => fillLedger(tx, userId, size));
  await transaction(async (tx) => {
    const other = await makeUser({ name: "Bo", email: "bo@example.org", password: "correct horse battery" });
    await fillLedger(tx, other, { ...size, traces: 5, messages: 50 });
  });
  await pool().query(
    "update trace set deleted_at = now(), ledger_due = true where user_id = $1 and source_id in ('made-7', 'made-30', 'made-60', 'made-90', 'made-149')",
    [userId],
  );
  const living = "trace_id in (select id from trace where user_id = $1 and deleted_at is null)";
  used = (await pool().query(`select * from message_usage where user_id = $1 and ${living}`, [userId])).rows;
  active = (
    await pool().query(
      `select trace_id, facets, day::timestamp at time zone 'UTC' + quarter * interval '15 minutes' as at, messages, tokens, seconds
       from (select trace_id, facets, day, unnest(quarters) as quarter, unnest(quarter_messages) as messages,
         unnest(quarter_tokens) as tokens, unnest(quarter_seconds) as seconds from trace_usage where user_id = $1 and ${living}) as quarters`,
      [userId],
    )
  ).rows;
  for (const row of (await pool().query("select * from usage_facets where user_id = $1", [userId])).rows)
    named.set(row.facets, { ...row, project: row.project_id });
}, 60_000);

const numbers = (value: unknown) => Number(value ?? 0);

/** What the rows add up to, in a span and for one value of a facet. */
function sum(from: Date, to: Date, wanted: (facets: Record<string, string | null>) => boolean) {
  return computeSum(from, to, (one) => wanted(named.get(one.facets) ?? {}));
}

function computeSum(from: Date, to: Date, wanted: (use: Use) => boolean) {
  const [start, end] = [from.getTime(), to.getTime()];
  const inside = (one: Use) => {
    const time = one.at.getTime(); // of thousands: to compare objects takes several times as long
    return time >= start && time < end && wanted(one);
  };
  const total: Record<string, number> = Object.fromEntries(columns.map((name) => [name, 0]));
  const add = (name: string, value: unknown) => {
    total[name] = (total[name] ?? 0) + numbers(value);
  };
  const sessions = new Set<string>();
  for (const one of active.filter(inside)) {
    sessions.add(one.trace_id);
    for (const name of ["messages", "tokens"]) add(name, one[name]);
  }
  for (const one of used.filter(inside)) {
    const kinds = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"].map((kind) => `${kind}_tokens`);
    for (const name of [...kinds, "reasoning_tokens", "cost_nano", "recorded_nano"]) add(name, one[name]);
    if (one.cost_nano === null) for (const name of kinds) add("unpriced_tokens", one[name]);
    if (one.tier_not_priced) for (const name of kinds) add("tier_not_priced_tokens", one[name]);
    if (one.cost_nano === null || one.recorded_nano === null) continue;
    add("compared_nano", one.cost_nano);
    add("compared_recorded_nano", one.recorded_nano);
  }
  const found: Record<string, number> = { ...total, sessions: sessions.size };
  return found;
}

const toFigures = (row: ReportRow | undefined) =>
  Object.fromEntries(columns.map((name) => [name, numbers(row?.[name])]));
const isEmpty = (figures: Record<string, number>) => Object.values(figures).every((value) => value === 0);

/** Compares every row of a report with the sum of single rows. */
async function compare(starts: Date[], by: (typeof rolledFacets)[number] | undefined, filter: FacetFilter = {}) {
  const rows = await heavyRead(userId, async (tx) =>
    readReport(tx, userId, {
      ...{ starts, facets: rolledFacets, filter, spans: { by }, maxValues: 1000 },
      gone: await readGone(tx, userId),
    }),
  );
  const passes = (facets: Record<string, string | null>) =>
    Object.entries(filter).every(([name, values]) => values.includes(facets[name] ?? ""));
  const [start, end] = [starts[0] as Date, starts.at(-1) as Date];
  const found = rows.filter((row) => !isEmpty(toFigures(row)));
  let compared = 0;
  const expectRow = (row: ReportRow | undefined, from: Date, to: Date, test: Parameters<typeof sum>[2]) => {
    const expected = sum(from, to, (facets) => passes(facets) && test(facets));
    expect(toFigures(row)).toEqual(expected);
    if (!isEmpty(expected)) compared += 1;
  };
  expectRow(
    found.find(({ span, facet }) => span === null && facet === null),
    start,
    end,
    () => true,
  );
  for (const facet of rolledFacets)
    for (const value of new Set([...named.values()].map((facets) => facets[facet] ?? null)))
      expectRow(
        found.find((row) => row.span === null && row.facet === facet && row.value === value),
        start,
        end,
        (facets) => (facets[facet] ?? null) === value,
      );
  const values = by ? new Set([...named.values()].map((facets) => facets[by] ?? null)) : [null];
  for (const [span, from] of starts.slice(0, -1).entries())
    for (const value of values)
      expectRow(
        found.find((row) => row.span === span && row.value === value),
        from,
        starts[span + 1] as Date,
        (facets) => !by || (facets[by] ?? null) === value,
      );
  expect(found).toHaveLength(compared);
  return compared;
}

const spans = (from: string, to: string, unit: Unit, zone: string) => getBoundaries(listSpans(from, to, unit, zone));

describe("the report of usage equals the sum of single messages", () => {
  test.each([
    ["day", "UTC", "source"],
    ["week", "UTC", "model"],
    ["month", "Europe/Berlin", "project"],
    ["day", "America/Los_Angeles", "branch"],
    ["week", "Asia/Kathmandu", "machine"],
    ["total", "Pacific/Auckland", undefined],
    ["week", "Europe/Berlin", undefined],
  ] as const)("in spans of a %s in %s, by %s", async (unit, zone, by) => {
    expect(await compare(spans("2026-03-15", "2026-04-12", unit, zone), by)).toBeGreaterThan(10);
  });

  test("in spans within a day, and around single days", async () => {
    const at = (text: string) => new Date(`2026-04-0${text}Z`);
    expect(await compare(["1T10:15", "1T10:30", "1T17:45", "2T03:00"].map(at), "source")).toBeGreaterThan(5);
    expect(await compare(["1T23:45", "3T00:15"].map(at), "model")).toBeGreaterThan(5);
    expect(await compare(["1T09:00", "1T21:00"].map(at), undefined)).toBeGreaterThan(3);
  });

  test("with filters", async () => {
    const week = spans("2026-03-15", "2026-04-12", "week", "Europe/Berlin");
    expect(await compare(week, "branch", { source: ["claude-code", "cursor"] })).toBeGreaterThan(10);
    expect(await compare(week, undefined, { source: ["cursor"], machine: ["studio"] })).toBeGreaterThan(5);
  });
});

/** What is wanted of the API, in the names of columns. */
const shown = (figures: Figures) => ({
  ...{
    sessions: figures.sessions,
    messages: figures.messages,
    tokens: figures.tokenCount,
    cost_nano: figures.costNano,
  },
  ...{ input_tokens: figures.inputTokens, cache_read_tokens: figures.cacheReadTokens },
  ...{ compared_nano: figures.compared.costNano, compared_recorded_nano: figures.compared.recordedNano },
});
const toShown = (figures: Record<string, number>) =>
  Object.fromEntries(Object.keys(shown(noFigures())).map((name) => [name, figures[name] ?? 0]));

describe("the answer of the API", () => {
  const query = (given: Record<string, string>) => usageQuery.parse({ from: "2026-03-15", to: "2026-04-12", ...given });
  const start = new Date("2026-03-15T00:00:00Z");
  const end = new Date("2026-04-13T00:00:00Z");

  test("adds up to the rows, in all, by span and by value", async () => {
    const answer = usageResponse.parse(await answerUsage(userId, query({ unit: "week", by: "model" })));
    expect(shown(answer.total)).toEqual(toShown(sum(start, end, () => true)));
    for (const span of answer.spans)
      expect(shown(span)).toEqual(toShown(sum(new Date(span.start), new Date(span.end), () => true)));
    expect(answer.values?.length).toBeGreaterThan(3);
    for (const one of answer.values ?? [])
      expect(shown(one)).toEqual(toShown(sum(start, end, ({ model }) => model === one.value)));
  });

  test("counts a session of two pull requests at each, and once among those of any", async () => {
    const { rows } = await pool().query<{ traceId: string; value: string }>(
      `select trace_id as "traceId", repository || '#' || number as value from trace_pull_request
       where user_id = $1 and trace_id in (select id from trace where user_id = $1 and deleted_at is null)`,
      [userId],
    );
    const of = (traces: Set<string>) => {
      const found = computeSum(start, end, (one) => traces.has(one.trace_id));
      return toShown(found);
    };
    const answer = await answerUsage(userId, query({ unit: "total", by: "pr" }));
    const linked = new Set(rows.map(({ traceId }) => traceId));
    expect(rows.length).toBeGreaterThan(linked.size);
    for (const [value, own] of Map.groupBy(rows, (row) => row.value)) {
      const expected = of(new Set(own.map(({ traceId }) => traceId)));
      const found = answer.values?.find((one) => one.value === value);
      expect(shown({ ...noFigures(), ...found })).toEqual(expected);
    }
    const none = answer.values?.find(({ value }) => value === null);
    const rest = of(new Set([...active, ...used].map((one) => one.trace_id).filter((id) => !linked.has(id))));
    expect(shown({ ...noFigures(), ...none })).toEqual(rest);
    expect(shown(answer.total)).toEqual(toShown(sum(start, end, () => true)));
  });

  test("counts money on its message's branch, and a session at each of its branches", async () => {
    const answer = await answerUsage(userId, query({ unit: "total", by: "branch" }));
    const main = answer.values?.find(({ value }) => value === "main");
    expect(main?.costNano).toBe(numbers(sum(start, end, ({ branch }) => branch === "main").cost_nano));
    const { rows } = await pool().query("select trace_id from trace_branch where user_id = $1 and branch = 'main'", [
      userId,
    ]);
    const onMain = new Set(rows.map((row) => row.trace_id));
    expect(main?.sessions).toBe(computeSum(start, end, (one) => onMain.has(one.trace_id)).sessions);
    const sessions = answer.values?.reduce((all, one) => all + one.sessions, 0);
    expect(sessions).toBe(answer.total.sessions);
  });

  test("takes moments, widened to quarters of an hour, and refuses what is too much", async () => {
    const moments = query({ from: "2026-03-20T10:07:00Z", to: "2026-03-21T10:01:00+02:00", unit: "day" });
    const answer = await answerUsage(userId, moments);
    expect([answer.from, answer.to]).toEqual(["2026-03-20T10:00:00.000Z", "2026-03-21T08:15:00.000Z"]);
    expect(answer.spans.map(({ from }) => from)).toEqual(["2026-03-20", "2026-03-21"]);
    expect(shown(answer.total)).toEqual(toShown(sum(new Date(answer.from), new Date(answer.to), () => true)));
    const refused = (given: Record<string, string>) => answerUsage(userId, query(given));
    await expect(refused({ from: "2026-04-13" })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(refused({ from: "2020-01-01", unit: "total" })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(refused({ from: "2024-12-01", unit: "day" })).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("is the same as CSV, in which no text is a formula", async () => {
    const answer = await answerUsage(userId, query({ unit: "week", by: "source" }));
    const [head = "", ...lines] = formatCsv(answer).trimEnd().split("\r\n");
    const cost = lines.reduce((all, line) => all + Number(line.split(",")[head.split(",").indexOf("cost_usd")]), 0);
    expect(cost).toBeCloseTo(answer.total.costNano / 1e9, 6);
    const harmful = { ...answer, spans: answer.spans.slice(0, 1) };
    for (const [value, cell] of [
      ["=1+1", "'=1+1"],
      ['@a,"b"', '"\'@a,""b"""'],
      ["\tx", "'\tx"],
    ] as const) {
      const values = [{ value, ...noFigures() }];
      const spans = harmful.spans.map((span) => ({ ...span, values }));
      expect(formatCsv({ ...harmful, spans }).split("\r\n")[1]).toContain(`,${cell},0,0,`);
    }
  });
});

test("the digest of two weeks is what the report says of the same days, and has each session's seconds without its pauses", async () => {
  const [zone, now, since] = ["Europe/Berlin", new Date("2026-04-15T10:00:00Z"), new Date("2026-04-14T09:07:00Z")];
  const digests = await readDigests(userId, { zone, now, since });
  const whole = async (from: string, to: string) => {
    const { total } = await answerUsage(userId, usageQuery.parse({ from, to, zone, unit: "total" }));
    return { sessions: total.sessions, messages: total.messages, costNano: total.costNano };
  };
  expect(digests.days.map(({ day }) => day)).toEqual(
    listSpans("2026-04-06", "2026-04-15", "day", zone).map((s) => s.from),
  );
  expect(digests.week).toMatchObject(await whole("2026-04-13", "2026-04-15"));
  expect(digests.weekBefore).toMatchObject(await whole("2026-04-06", "2026-04-12"));
  expect(digests.today).toMatchObject(await whole("2026-04-15", "2026-04-15"));
  expect(digests.yesterday).toMatchObject(await whole("2026-04-14", "2026-04-14"));
  expect(digests.since).toMatchObject(await whole("2026-04-14T09:00:00Z", "2026-04-16T00:00:00+02:00"));
  const seconds = (from: string, to: string) => {
    const inside = active.filter(({ at }) => at >= new Date(from) && at < new Date(to));
    const quarters = [...Map.groupBy(inside, ({ at }) => at.getTime()).values()];
    return quarters.reduce(
      (sum, of) =>
        sum +
        Math.min(
          900,
          of.reduce((all, one) => all + numbers(one.seconds), 0),
        ),
      0,
    );
  };
  expect(digests.week.seconds).toBe(seconds("2026-04-13T00:00:00+02:00", "2026-04-16T00:00:00+02:00"));
  expect(digests.today.seconds).toBe(seconds("2026-04-15T00:00:00+02:00", "2026-04-16T00:00:00+02:00"));
  const query = { from: "2026-04-13", to: "2026-04-15", zone, unit: "total", by: "project" };
  const { values = [] } = await answerUsage(userId, usageQuery.parse(query));
  for (const { name, costNano } of digests.projects)
    expect(
      values.filter((one) => one.value === name && one.costNano === costNano),
      name,
    ).not.toEqual([]);
  expect(digests.projects.length).toBeGreaterThan(0);
});
