import { describe, expect, test } from "vitest";
import { budgetMark, forecast } from "#lib/usage/month";
import { budgetForm, noFigures, usageQuery } from "#lib/usage/schema";
import { listSpans } from "#lib/usage/spans";
import { readUsageParams, tracesHref, usageHref } from "../../app/(app)/usage/range.ts";
import { makeChart, makeYardstick, roundTop } from "../../app/(app)/usage/shape.ts";
import { describeFinding, spanText } from "../../app/(app)/usage/words.ts";
import { formatMoney, formatMoneyAxis, formatMoneyShort } from "../../app/components/values/money.ts";

const today = "2026-03-31";
const read = (params: Record<string, string>, zone = "UTC") => readUsageParams(params, zone, today);

describe("the range", () => {
  test("is 30 days up to today, in days of the reader's zone, also where clocks change", () => {
    const { from, to, unit, spans } = read({}, "Europe/Berlin");
    expect([from, to, unit, spans.length]).toEqual(["2026-03-02", today, "day", 30]);
    const change = spans.find((span) => span.from === "2026-03-29");
    expect(change?.start.toISOString()).toBe("2026-03-28T23:00:00.000Z");
    expect(change?.end.toISOString()).toBe("2026-03-29T22:00:00.000Z");
    const auckland = readUsageParams({ from: "2026-09-26", to: "2026-09-28" }, "Pacific/Auckland", today);
    expect(auckland.spans.map(({ end }) => end.toISOString())).toEqual([
      "2026-09-26T12:00:00.000Z",
      "2026-09-27T11:00:00.000Z",
      "2026-09-28T11:00:00.000Z",
    ]);
  });

  test("of a year is in weeks from Monday to Sunday without gaps", () => {
    const { spans, unit } = read({ days: "365" });
    expect([unit, spans.length]).toEqual(["week", 53]);
    expect(spans.slice(0, 2).map(({ from, to }) => [from, to])).toEqual([
      ["2025-04-01", "2025-04-06"],
      ["2025-04-07", "2025-04-13"],
    ]);
    expect(spans.at(-1)).toMatchObject({ from: "2026-03-30", to: "2026-03-31" });
    for (const [index, span] of spans.slice(1).entries()) expect(span.start).toEqual(spans[index]?.end);
  });

  test("accepts given days, at most three years, and ignores invalid ones", () => {
    expect(read({ from: "2026-01-01", to: "2026-01-02" }).spans).toHaveLength(2);
    expect(read({ from: "2026-01-05", to: "2026-01-02" })).toMatchObject({ from: "2026-01-02", to: "2026-01-02" });
    expect(read({ from: "1990-01-01" }).from).toBe("2023-03-28");
    expect(read({ from: "2026-02-31", days: "12", by: "user", show: "money" })).toMatchObject({
      days: "30",
      by: "source",
    });
  });

  test.each(["9999-12-31", "9999-01-01", "0000-01-01", "0001-01-01"])(
    "at the first or last possible day (%s) is ignored",
    (day) => {
      expect(read({ from: day, to: day })).toMatchObject({ days: "30" });
      expect(read({ to: day })).toMatchObject({ days: "30" });
      expect(read({ from: "9998-12-31", to: "9998-12-31" }).spans).toHaveLength(1);
      expect(read({ from: "0005-01-01", to: "0005-01-01" }).spans).toHaveLength(1);
    },
  );

  test.each(["9999-12-31T23:59:59.999Z", "9999-01-01T00:00:00Z", "0001-01-01T00:00:00Z"])(
    "of the API does not begin or end at %s, whose days can't be compared as text",
    (moment) => {
      for (const query of [{ to: moment }, { from: moment }])
        expect(usageQuery.safeParse(query).error?.issues[0]?.path).toEqual(Object.keys(query));
      expect(usageQuery.safeParse({ to: "9998-12-31T23:59:59.999Z" }).success).toBe(true);
    },
  );

  test("ends where days can't be compared", () => {
    expect(() => listSpans("9999-12-30", "9999-12-31", "day", "UTC")).toThrow(RangeError);
  });

  test("is kept in the page's links", () => {
    expect(usageHref(read({ days: "90" }), { by: "model" })).toBe("/usage?days=90&by=model");
    const span = read({ from: "2026-01-01", to: "2026-01-02", show: "sessions" });
    expect(usageHref(span, {})).toBe("/usage?from=2026-01-01&to=2026-01-02&by=source&show=sessions");
    expect(tracesHref({ from: "2026-01-01", to: "2026-01-07" }, { facet: "project", value: "a & b" })).toBe(
      "/traces?project=a+%26+b&from=2026-01-01&to=2026-01-07",
    );
    const names = ["sonnet-4-20250514", "sonnet-4"];
    expect(tracesHref({ from: "2026-01-01", to: "2026-01-07" }, { facet: "model", value: "sonnet-4", names })).toBe(
      "/traces?model=sonnet-4&from=2026-01-01&to=2026-01-07&model=sonnet-4-20250514",
    );
  });
});

describe("the chart", () => {
  const request = read({ from: "2026-03-30", to: today });
  const usage = (value: string | null, tokenCount: number) => ({
    ...noFigures(),
    ...{ value, sessions: 1, messages: 2, tokenCount },
  });
  const chart = (bySpan: { span: number; value: string | null; tokens: number }[]) => {
    const values = Map.groupBy(bySpan, ({ value }) => value);
    const byFacet = [...values].map(([value, cells]) =>
      usage(
        value,
        cells.reduce((sum, one) => sum + one.tokens, 0),
      ),
    );
    const sum = (cells: typeof bySpan) =>
      usage(
        null,
        cells.reduce((all, { tokens }) => all + tokens, 0),
      );
    const report = {
      total: { ...sum(bySpan), untimed: 0, uncounted: 0 },
      byFacet: { source: { values: byFacet, others: 0 } },
      spanTotals: request.spans.map((_, place) => sum(bySpan.filter(({ span }) => span === place))),
      bySpan: bySpan.map((cell) => ({ ...usage(cell.value, cell.tokens), span: cell.span })),
    };
    const yardstick = makeYardstick("tokens", report.total);
    return makeChart(report, request.spans, "source", yardstick, new Date(`${today}T12:00:00Z`));
  };

  test("has the five largest values and the sum of the others", () => {
    const cells = Array.from({ length: 8 }, (_, n) => ({
      span: n % 2,
      value: n === 7 ? null : `a${n}`,
      tokens: n + 1,
    }));
    const { series, bars } = chart(cells);
    expect(series.map(({ name, total }) => [name, total])).toEqual([
      ["no agent", 8],
      ["a6", 7],
      ["a5", 6],
      ["a4", 5],
      ["a3", 4],
      ["3 other agents", 6],
    ]);
    expect(bars.map(({ total, unfinished }) => [total, unfinished])).toEqual([
      [16, false],
      [20, true],
    ]);
    expect(bars[1]?.amounts).toEqual([8, 0, 6, 0, 4, 2]);
  });

  test("counts values beyond those of the report among the others, so that all add up", () => {
    const values = Array.from({ length: 7 }, (_, n) => usage(`a${n}`, 10));
    const report = {
      total: { ...usage(null, 100), untimed: 0, uncounted: 0 },
      byFacet: { source: { values, others: 3 } },
      spanTotals: [usage(null, 100)],
      bySpan: values.map((one) => ({ ...one, span: 0 })),
    };
    const yardstick = makeYardstick("tokens", report.total);
    const { series, bars, total } = makeChart(
      report,
      request.spans,
      "source",
      yardstick,
      new Date(`${today}T12:00:00Z`),
    );
    expect(series.at(-1)).toMatchObject({ name: "5 other agents", total: 50 });
    expect(series.reduce((sum, one) => sum + one.total, 0)).toBe(total);
    expect(bars[0]?.amounts).toEqual([10, 10, 10, 10, 10, 50]);
  });

  test("says what a span has in all, where sessions count at several values", () => {
    const report = {
      total: { ...usage(null, 30), untimed: 0, uncounted: 0 },
      byFacet: { pr: { values: [usage("app#1", 30), usage("app#2", 30)], others: 0 } },
      spanTotals: [usage(null, 30)],
      bySpan: ["app#1", "app#2"].map((value) => ({ ...usage(value, 30), span: 0 })),
    };
    const yardstick = makeYardstick("tokens", report.total);
    const { bars, total, top } = makeChart(report, request.spans, "pr", yardstick, new Date(`${today}T12:00:00Z`));
    expect([bars[0]?.amounts, bars[0]?.total, total, top]).toEqual([[30, 30], 30, 30, 80]);
  });

  test("says in a sentence which day and which value is largest", () => {
    const finding = (cells: Parameters<typeof chart>[0]) => describeFinding(chart(cells), request, "tokens");
    const day = { span: 0, value: "codex", tokens: 30_000 };
    expect(finding([day])).toBe("Peak day: 30 Mar, 30K tokens");
    expect(finding([day, { span: 1, value: "cursor", tokens: 10_000 }])).toBe(
      "Peak day: 30 Mar, 30K tokens · codex: 75% of tokens",
    );
  });

  test("has an axis from zero to a round number, in four steps", () => {
    expect([0, 1, 4, 5, 13, 99, 100, 121, 9_200_000].map(roundTop)).toEqual([
      4, 4, 4, 8, 20, 120, 120, 200, 12_000_000,
    ]);
    expect(spanText({ from: "2026-03-30", to: "2026-04-05" })).toBe("30 Mar to 5 Apr");
    expect(spanText({ from: "2026-04-06", to: "2026-04-12" })).toBe("6 to 12 Apr");
  });
});

describe("money", () => {
  test("is short and exact enough to read", () => {
    const dollars = (amount: number) => formatMoney(amount * 1e9);
    expect([0, 0.00001, 0.0042, 0.00999, 0.01, 1.234, 999.996, 12_345.6].map(dollars)).toEqual([
      ...["$0", "<$0.0001", "$0.0042", "$0.01", "$0.01", "$1.23", "$1,000", "$12,346"],
    ]);
    expect([2, 0.5, 1234].map((amount) => formatMoneyShort(amount * 1e9))).toEqual(["$2", "$0.50", "$1.2K"]);
  });

  test("at an axis has as many digits at every mark", () => {
    const marks = (top: number) => formatMoneyAxis([1, 0.75, 0.5, 0.25, 0].map((part) => part * top * 1e9));
    expect(marks(0.02)).toEqual(["$0.020", "$0.015", "$0.010", "$0.005", "$0"]);
    expect(marks(2)).toEqual(["$2.00", "$1.50", "$1.00", "$0.50", "$0"]);
    expect(marks(8)).toEqual(["$8", "$6", "$4", "$2", "$0"]);
    expect(marks(0.1234567)).toEqual(["$0.123", "$0.093", "$0.062", "$0.031", "$0"]);
    expect(marks(4000)).toEqual(["$4K", "$3K", "$2K", "$1K", "$0"]);
  });

  test("of a month is foretold from its full days, and not before there are seven", () => {
    expect(forecast(6, 60, 70, 30)).toBeUndefined();
    expect(forecast(10, 100, 104, 30)).toBe(300);
    expect(forecast(10, 100, 150, 30)).toBe(340);
    expect(forecast(30, 300, 305, 31)).toBe(310);
    expect(forecast(10, 0, 0, 30)).toBeUndefined();
  });

  test("spent has a mark from 80 percent of a budget on, at 100, and beyond", () => {
    const amount = 123_456_785_000;
    const marks = [0, amount * 0.8 - 1, amount * 0.8, amount - 1, amount, amount + 1].map((spent) =>
      budgetMark(spent, amount),
    );
    expect(marks).toEqual([undefined, undefined, "nearly", "nearly", "used up", "over"]);
  });

  test("of a budget is an amount, for all or for one value", () => {
    const read = (of: unknown, amount: string) => budgetForm.safeParse({ of: JSON.stringify(of), amount }).data;
    expect(read(["", ""], "49,50")).toEqual({ of: { facet: "", value: "" }, amount: 49.5 });
    expect(read(["project", "a b"], " 200 ")).toEqual({ of: { facet: "project", value: "a b" }, amount: 200 });
    for (const [of, amount] of [
      [["", "x"], "1"],
      [["model", ""], "1"],
      [["machine", "x"], "1"],
      [["", ""], "0"],
      [["", ""], "1e9"],
      [["", ""], "1000001"],
    ] as const)
      expect(read(of, amount)).toBeUndefined();
    expect(budgetForm.safeParse({ of: "{", amount: "1" }).success).toBe(false);
  });
});
