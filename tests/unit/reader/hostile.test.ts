import { describe, expect, test, vi } from "vitest";
import { makeOutline } from "#lib/transcript/outline";
import { makeRows } from "#lib/transcript/rows";
import { isLong } from "../../support/long.ts";
import { bombs, drawnIn, listFull, listShapes, slowSegment } from "./bombs.ts";
import { forbidden, listTags } from "./markup";
import { everywhere, payloads } from "./payloads.ts";
import { message, render, renderBody } from "./rendering";

vi.setConfig({ testTimeout: 60_000 });

test.each(Object.entries(payloads))("%s in any field stays text", async (_, text) => {
  const messages = everywhere(text);
  const html = await render(messages);
  expect(forbidden(html)).toEqual([]);
  expect(html).not.toContain("<script");
  expect(() => makeOutline(messages)).not.toThrow();
});

// Each of them alone in tests/long/unit/reader-hostile.test.ts.
test("all of them together, in the body of any row, stay text", async () => {
  const all = Object.values(payloads).join("\n\n");
  for (const one of everywhere(all)) expect(forbidden(await renderBody([one]))).toEqual([]);
});

test("values of any type where a text is expected are drawn as text", async () => {
  for (const odd of [0, true, null, [], {}, [[[]]], { toString: 1 }, [null, { text: 1 }], "", -1e308]) {
    const fields = Object.fromEntries(
      "tool result kind model content message payload toolCalls thoughts tool_calls toolUseResult functionCall type name input"
        .split(" ")
        .map((key) => [key, odd]),
    );
    const html = await render([
      message({ metadata: fields }),
      message({ metadata: { tool: fields } }),
      message({ metadata: { ...fields, tool: { name: "Edit", input: { edits: [odd], file_path: odd, todos: odd } } } }),
      message({ metadata: { type: "tool_use", name: "TodoWrite", input: { todos: [odd, fields] } } }),
      message({ metadata: { type: "tool_result", content: odd } }),
      message({ content: "x", metadata: { result: { ...fields, callId: "1" }, content: [odd, fields] } }),
    ]);
    expect(forbidden(html)).toEqual([]);
  }
});

test("JSON in a text that is nested deeper than any input is drawn as text", async () => {
  const deep = `{"command":${"[".repeat(30_000)}1${"]".repeat(30_000)}}`;
  const calls = ["thing", "shell", "Edit", "TodoWrite"].map((name) =>
    message({ metadata: { tool: { name, input: deep }, result: { output: "x", isError: true } } }),
  );
  const html = await render(calls);
  expect(forbidden(html)).toEqual([]);
  expect(() => makeOutline(calls)).not.toThrow();
});

test("a link is one only where it leads to the web or to a mailbox", async () => {
  const html = await render([message({ content: Object.values(payloads).join("\n\n") })]);
  const links = listTags(html).filter(({ name, attributes }) => name === "a" && attributes.rel !== undefined);
  expect(links.length).toBeGreaterThan(5);
  for (const { attributes } of links)
    expect(attributes).toMatchObject({ href: expect.stringMatching(/^(https?:|mailto:)/i) });
});

// Measured, and in full length, in tests/long/unit/reader-time.test.ts.
describe("what is made to take long", () => {
  test.each(Object.entries(bombs))("%s: drawn within bounds", async (_, text) => {
    const html = await render(drawnIn(text.slice(0, 2000)));
    expect(html.length).toBeLessThan(2_000_000);
    expect(forbidden(html)).toEqual([]);
  });

  test("a segment of edits that are slow to compare, and a fence longer than a regular expression may be", () => {
    expect(makeRows(slowSegment(1, 300_000)).length).toBeGreaterThan(0);
  });

  // More than is drawn at a time of its rest; in long tests each in every shape.
  const kilobytes = isLong ? 200 : 140;
  test.each(listFull(kilobytes * 1024).map(([name, text], index) => [name, text, index] as const))(
    `a message of ${kilobytes} KB %s: a page of it, and its rest in slices`,
    async (_, text, index) => {
      for (const shape of listShapes(text).filter((_, at) => isLong || (at + index) % 2 === 0)) {
        expect((await render([shape])).length).toBeLessThan(200_000);
        expect((await renderBody([shape])).length).toBeLessThan(1_500_000);
      }
    },
  );
});
