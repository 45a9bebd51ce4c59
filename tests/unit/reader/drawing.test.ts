import { setTimeout } from "node:timers/promises";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import { makeRecentCache } from "../../../app/(app)/traces/[id]/drawing/draw.ts";
import { operations } from "../../../app/(app)/traces/[id]/drawing/operations.ts";
import { toHtml } from "../../../app/(app)/traces/[id]/messages/markup.ts";
import type { Read } from "../../../app/(app)/traces/[id]/segments/read-segment.ts";
import { makeSegmentRows } from "../../../app/(app)/traces/[id]/segments/rows.ts";
import { message } from "./rendering";

/** What is read for a segment of 100 messages of 10,000 characters at the positions 0 to 99. */
function makeRead(more: Partial<Read>, content = "a word ".repeat(1430)): Read {
  const messages = Array.from({ length: 100 }, (_, position) => message({ position, content }));
  return { messages, start: 0, end: 99, fixed: { start: true, end: true }, earlier: false, later: false, ...more };
}

describe("a segment that would cost too much", () => {
  test("ends sooner, and says that there is more", () => {
    const segment = makeSegmentRows(makeRead({}), false, 50_000);
    expect(segment).toMatchObject({ first: 0, last: 3, count: 4, earlier: false, later: true });
    expect(segment.rows.map(({ position }) => position)).toEqual([0, 1, 2, 3]);
  });

  test("begins later where it is read backwards", () => {
    expect(makeSegmentRows(makeRead({ backwards: true }), false, 50_000)).toMatchObject({
      first: 96,
      last: 99,
      earlier: true,
      later: false,
    });
  });

  test("keeps the message that was asked for, and some on both sides", () => {
    const { first, last } = makeSegmentRows(makeRead({ keep: 50 }), false, 60_000);
    expect([first, last]).toEqual([48, 52]);
  });

  test("is one message at least", () => {
    expect(makeSegmentRows(makeRead({}), false, 1)).toMatchObject({ first: 0, last: 0, count: 1, later: true });
  });

  test("bodies that are loaded when they are opened cost nothing", () => {
    const tool = { name: "Bash", input: { command: "seq 1" } };
    const messages = Array.from({ length: 100 }, (_, position) =>
      message({ position, content: "line\n".repeat(2000), metadata: { tool } }),
    );
    expect(makeSegmentRows(makeRead({ messages }), false, 200_000)).toMatchObject({ count: 100 });
  });

  test("is cut again where its HTML is long though its text is short", async () => {
    const view = { whose: { sharedAt: "/shared/x" }, zone: "UTC" };
    const read = makeRead({}, `|a|b|c|d\n|-|-|-|-\n${"|1|2|3|4\n".repeat(199)}`);
    const { html, count, later } = await operations.segment({ read, view, talk: false });
    expect(html.length).toBeLessThan(1_000_000);
    expect(count).toBeGreaterThan(1);
    expect(later).toBe(true);
  });
});

describe("the HTML of a message", () => {
  test("escapes text and attributes, and leaves attributes out that no message has", () => {
    const element = createElement(
      "a",
      { title: "\"<&'>", style: { color: "red" }, onClick: () => {}, srcDoc: "x", hidden: true, open: false },
      "<b>",
      1,
      null,
      false,
      ["&"],
    );
    expect(toHtml(element)).toBe('<a title="&quot;&lt;&amp;&#x27;&gt;" hidden="">&lt;b&gt;1&amp;</a>');
  });

  test("has no element that is not listed, and no raw HTML", () => {
    for (const name of ["script", "style", "iframe", "img", "form"])
      expect(() => toHtml(createElement(name))).toThrow(`A message is drawn with ${name}.`);
    const raw = { dangerouslySetInnerHTML: { __html: "<script>" } };
    expect(toHtml(createElement("p", raw))).toBe("<p></p>");
  });
});

test("what was drawn lately is kept up to its bytes, and what was used last goes last", () => {
  const recent = makeRecentCache<string>(80);
  for (const key of ["a", "b", "c", "d", "e", "f", "g", "h"]) recent.set(key, key, { size: 10 });
  recent.get("a");
  recent.set("i", "i", { size: 10 });
  expect([recent.get("a"), recent.get("b"), recent.get("i")]).toEqual(["a", undefined, "i"]);
  recent.set("large", "large", { size: 11 });
  expect(recent.get("large")).toBeUndefined();
});

test("what was drawn is dropped once nobody asked for it for some time", async () => {
  const recent = makeRecentCache<string>(80);
  expect(recent.ttl).toBe(600_000);
  recent.ttl = 400;
  recent.set("a", "a", { size: 10 });
  recent.set("b", "b", { size: 10 });
  await setTimeout(250);
  expect(recent.get("a")).toBe("a");
  await setTimeout(250);
  expect([...recent.keys()]).toEqual(["a"]);
  await expect.poll(() => recent.size).toBe(0);
});
