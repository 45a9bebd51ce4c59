import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { resumeCommand } from "../../../app/(app)/traces/[id]/facts/resume.ts";
import { getOrdinal, matchFrom, stepMatch, suits, wordsToFind } from "../../../app/(app)/traces/[id]/find/matches.ts";
import { dropFileTerms } from "../../../app/(app)/traces/[id]/frame/links.ts";
import { stepTurn, turnAt } from "../../../app/(app)/traces/[id]/outline/turns.ts";
import { parseSegmentRequest } from "../../../app/(app)/traces/[id]/segments/request.ts";
import { cutSegment, rowsWithin } from "../../../app/(app)/traces/[id]/segments/rows.ts";
import {
  changeSegments,
  findNextLoad,
  type LoadPlace,
  type SegmentEdge,
} from "../../../app/(app)/traces/[id]/segments/segment-changes.ts";
import { Chips } from "../../../app/(app)/traces/filters/chips.tsx";

const positions = Array.from({ length: 20 }, (_, index) => index * 10);
const row = (...at: number[]) => ({ positions: at });
const free = { start: false, end: false };

describe("a segment's edges", () => {
  test("stay where they were wanted when no row crosses them", () => {
    expect(cutSegment(positions, [row(30), row(40, 50)], { start: 3, end: 15 }, free)).toEqual({ start: 3, end: 15 });
  });

  test("move inwards to where no row is split", () => {
    const rows = [row(20, 30, 40), row(140, 160)];
    expect(cutSegment(positions, rows, { start: 3, end: 15 }, free)).toEqual({ start: 5, end: 13 });
  });

  test("never leave out the message that was asked for", () => {
    const rows = [row(20, 80), row(100, 170)];
    expect(cutSegment(positions, rows, { start: 3, end: 12, keep: 6 }, free)).toEqual({ start: 3, end: 9 });
    expect(cutSegment(positions, [row(50, 170)], { start: 3, end: 12, keep: 8 }, free)).toEqual({ start: 3, end: 12 });
  });

  test("stay where a neighbouring segment fixed them", () => {
    const rows = [row(20, 30), row(140, 160)];
    const fixed = { start: true, end: true };
    expect(cutSegment(positions, rows, { start: 3, end: 15 }, fixed)).toEqual({ start: 3, end: 15 });
  });

  test("say whether a row is split nevertheless", () => {
    expect(rowsWithin([row(10, 20), row(30), row(50)], 20, 40)).toBeUndefined();
    expect(rowsWithin([row(10), row(30), row(20, 40), row(50)], 20, 40)).toEqual([row(30), row(20, 40)]);
  });
});

describe("the segments on a page", () => {
  const segment = (first: number, more: { earlier?: boolean; later?: boolean; html?: string } = {}) => ({
    markup: { __html: more.html ?? "messages" },
    first,
    last: first + 99,
    count: 100,
    before: first,
    earlier: more.earlier ?? true,
    later: more.later ?? true,
    hidden: false,
  });

  test("join what is loaded before and after", () => {
    let list = [segment(300)];
    list = changeSegments(list, { type: "earlier", segment: segment(200) });
    list = changeSegments(list, { type: "later", segment: segment(400) });
    expect(list.map(({ first }) => first)).toEqual([200, 300, 400]);
  });

  test("end where nothing more was there", () => {
    const list = [segment(0)];
    const ended = changeSegments(list, { type: "later", segment: undefined });
    expect(ended[0]?.later).toBe(false);
    expect(changeSegments(list, { type: "earlier", segment: undefined })[0]?.earlier).toBe(false);
  });

  test("grow at an edge that is near, has more, and did not fail", () => {
    const next = (near: SegmentEdge[], failed: LoadPlace[] = [], list = [segment(300), segment(400)]) =>
      findNextLoad(list, new Set(near), new Set(failed))?.request;
    expect(next([])).toBeUndefined();
    expect(next(["later", "earlier"])).toEqual({ before: 300 });
    expect(next(["later", "earlier"], ["earlier"])).toEqual({ after: 499 });
    expect(next(["later", "earlier"], ["earlier", "later"])).toBeUndefined();
    expect(next(["later", "earlier"], ["jump"], [segment(0, { earlier: false })])).toEqual({ after: 99 });
    expect(next(["later"], [], [segment(0, { later: false })])).toBeUndefined();
  });
});

describe("matches", () => {
  const found = {
    total: 6,
    messages: 3,
    places: [
      [10, 1],
      [20, 3],
      [30, 2],
    ] as [number, number][],
  };

  test("start at what is being read, and wrap around", () => {
    expect(matchFrom(found, 15)).toEqual({ place: 1, within: 0 });
    expect(matchFrom(found, 31)).toEqual({ place: 0, within: 0 });
    expect(stepMatch(found, { place: 1, within: 1 }, 1, 3)).toEqual({ place: 1, within: 2 });
    expect(stepMatch(found, { place: 2, within: 1 }, 1, 2)).toEqual({ place: 0, within: 0 });
    expect(stepMatch(found, { place: 0, within: 0 }, -1, 1)).toEqual({ place: 2, within: 1 });
  });

  test("step to the next message where this one shows fewer than were counted", () => {
    expect(stepMatch(found, { place: 1, within: 0 }, 1, 1)).toEqual({ place: 2, within: 0 });
    expect(stepMatch(found, { place: 1, within: 0 }, 1, 0)).toEqual({ place: 2, within: 0 });
  });

  test("are counted over all messages", () => {
    expect(getOrdinal(found, { place: 0, within: 0 })).toBe(1);
    expect(getOrdinal(found, { place: 2, within: 1 })).toBe(6);
  });

  test("are looked for by the list's query: all of it first, then its parts, a phrase without its quotes", () => {
    expect(wordsToFind("")).toEqual([""]);
    expect(wordsToFind(" src/x.ts ")).toEqual(["src/x.ts"]);
    expect(wordsToFind("retry backoff now")).toEqual(["retry backoff now", "backoff", "retry", "now"]);
    expect(wordsToFind('"error handling"')).toEqual(["error handling"]);
    expect(wordsToFind('now “error handling” ""')).toEqual(["error handling", "now"]);
  });

  test("suit if there are any at the message that the address names", () => {
    const found = {
      total: 2,
      messages: 2,
      places: [
        [3, 1],
        [9, 1],
      ] as [number, number][],
    };
    expect(suits(found, undefined)).toBe(true);
    expect(suits(found, 9)).toBe(true);
    expect(suits(found, 4)).toBe(false);
    expect(suits({ total: 0, messages: 0, places: [] }, undefined)).toBe(false);
  });
});

describe("turns", () => {
  const turns = [{ position: 0 }, { position: 50 }, { position: 100 }];

  test("reach from their start to the next", () => {
    expect([0, 49, 50, 100, 5000].map((position) => turnAt(turns, position))).toEqual([0, 0, 1, 2, 2]);
  });

  test("are stepped through; backwards first to the start of the current one", () => {
    expect(stepTurn(turns, 50, 1)).toBe(100);
    expect(stepTurn(turns, 100, 1)).toBeUndefined();
    expect(stepTurn(turns, 70, -1)).toBe(50);
    expect(stepTurn(turns, 50, -1)).toBe(0);
    expect(stepTurn([{ position: 7 }], 3, 1)).toBe(7);
    expect(stepTurn([], 3, 1)).toBeUndefined();
  });
});

test("a session is resumed by its agent's own command, if that is known and safe to paste", () => {
  expect(resumeCommand("claude-code", "0199-ab")).toBe("claude --resume 0199-ab");
  expect(resumeCommand("codex-cli", "0199-ab")).toBe("codex resume 0199-ab");
  expect(resumeCommand("amp", "T-0199-ab")).toBe("amp threads continue T-0199-ab");
  expect(resumeCommand("cursor-ide", "0199-ab")).toBeUndefined();
  expect(resumeCommand("constructor", "0199-ab")).toBeUndefined();
  expect(resumeCommand("claude-code", "x; rm -rf /")).toBeUndefined();
  expect(resumeCommand("claude-code", "--help")).toBeUndefined();
});

test("an address asks for a segment, and one that makes no sense for the start", () => {
  expect(parseSegmentRequest({ at: "812" })).toEqual({ at: 812 });
  expect(parseSegmentRequest({ before: "7", after: "3" })).toEqual({ before: 7 });
  expect(parseSegmentRequest({ after: "0" })).toEqual({ after: 0 });
  expect(parseSegmentRequest({ at: "-1", after: ["1", "2"] })).toEqual({});
  expect(parseSegmentRequest({ at: "99999999999" })).toEqual({});
});

test("a search that names files has a chip for each, and is looked for in a session without them", () => {
  const html = renderToStaticMarkup(
    Chips({
      parent: undefined,
      names: new Map(),
      given: { q: 'retry file:src/x.ts -file:"a b.md"', source: "codex", branch: ["main", "next"] },
    }),
  );
  const chips = [...html.matchAll(/href="([^"]*)"[^>]*>(.*?)<span[^>]*i-lucide-x/g)].map(
    ([, href = "", inner = ""]) => [
      inner
        .replace(/<[^>]+>/g, " ")
        .replace(/\s+/g, " ")
        .trim(),
      new URLSearchParams(href.replaceAll("&amp;", "&").split("?")[1]).get("q"),
    ],
  );
  expect(chips).toEqual([
    ["Remove filter file src/x.ts", 'retry -file:"a b.md"'],
    ["Remove filter without file a b.md", "retry file:src/x.ts"],
    ["Remove filter search retry", 'file:src/x.ts -file:"a b.md"'],
    ["Remove filter source codex", 'retry file:src/x.ts -file:"a b.md"'],
    ["Remove filter branch main", 'retry file:src/x.ts -file:"a b.md"'],
    ["Remove filter branch next", 'retry file:src/x.ts -file:"a b.md"'],
  ]);
  expect(dropFileTerms('retry file:src/x.ts -file:"a b.md" changed:y.ts profile:x')).toBe("retry profile:x");
});
