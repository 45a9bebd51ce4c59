import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Figures } from "../../../app/(app)/home/figures.tsx";
import { Sum } from "../../../app/(app)/traces/[id]/changes/sum.tsx";
import { HeadFigures } from "../../../app/(app)/traces/[id]/facts/head.tsx";
import { describeFinding, percent } from "../../../app/(app)/usage/words.ts";

const toText = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

test("home says counting in place of zero, for what sessions that are still counted may change", () => {
  const none = { sessions: 0, messages: 0, costNano: 0, seconds: 0 };
  const days = Array.from({ length: 8 }, (_, at) => ({ ...none, day: `2026-03-0${at + 1}` }));
  const quiet = { since: none, today: none, yesterday: none, week: none, weekBefore: none, days, projects: [] };
  const readRows = (digests: typeof quiet, due: number) =>
    renderToStaticMarkup(createElement(Figures, { digests, due }))
      .split("<tr")
      .slice(2)
      .map((row) => toText(`<tr${row}`));
  expect(readRows(quiet, 2)).toEqual([
    "Today counting… counting… counting…",
    "Yesterday 0 – –",
    "This week counting… counting… counting…",
    "Last week 0 – –",
  ]);
  expect(readRows(quiet, 0)[0]).toBe("Today 0 – –");
  const busy = { ...quiet, today: { sessions: 3, messages: 9, costNano: 2e9, seconds: 61 } };
  expect(readRows(busy, 2)[0]).toBe("Today 3 1 min $2.00");
});

test("the changes of a session are net lines, beside those of all edits where they differ", () => {
  const files = [
    { added: 100, removed: 40 },
    { added: 71, removed: 118 },
  ];
  const computeSum = (added: number, removed: number) =>
    toText(renderToStaticMarkup(createElement(Sum, { files, untold: 0, cut: false, edits: { added, removed } })));
  expect(computeSum(207, 195)).toMatch(/^2 files \+171 −158 net, \+207 −195 in all edits\./);
  expect(computeSum(171, 158)).toMatch(/^2 files \+171 −158 net\./);
});

test("a share is never 0% or 100% of what is neither", () => {
  expect([0, 0.2, 50, 99.3, 99.8, 100].map((part) => percent(part, 100))).toEqual([
    ...["0%", "<1%", "50%", ">99%", ">99%", "100%"],
  ]);
});

test("what is of no pull request is not called the largest of them", () => {
  const one = (name: string, value: string | null, total: number) => ({ key: value, name, value, rest: false, total });
  const span = { from: "2026-03-30", to: "2026-03-30", start: new Date(0), end: new Date(1) };
  const chart = {
    series: [one("no pull request", null, 80), one("app#1", "app#1", 20)],
    bars: [{ span, amounts: [80, 20], total: 100, unfinished: false }],
    ...{ total: 100, top: 120 },
  };
  const request = { by: "pr", unit: "day" } as Parameters<typeof describeFinding>[1];
  expect(describeFinding(chart, request, "messages")).toBe("Peak day: 30 Mar, 100 messages · app#1: 20% of messages");
});

test("a session's cost says which tiers of service are in it at the standard price", () => {
  const counts = { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 0, cacheWrite5mTokens: 0 };
  const usage = { ...counts, cacheWrite1hTokens: 0, reasoningTokens: 0, unpricedTokens: 0, tierNotPricedTokens: 0 };
  const trace = { costNano: 2e9, recordedNano: null, tokenCount: null, model: null, usage } as unknown as Parameters<
    typeof HeadFigures
  >[0]["trace"];
  const use = { model: "gpt-5.3-codex", inputTokens: 1000, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const spent = (...tiers: string[][]) => {
    const models = tiers.map((tiersNotPriced) => ({ ...use, costNano: 1e9, tiersNotPriced }));
    return toText(renderToStaticMarkup(createElement(HeadFigures, { trace, models })));
  };
  expect(spent([])).toMatch(/ Cost \$2\.00 1\.1K tokens /);
  expect(spent([])).not.toContain("tier");
  expect(spent(["priority"], ["priority", "scale"])).toMatch(/tier “priority” not priced · tier “scale” not priced$/);
});
