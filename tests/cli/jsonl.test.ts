import { join } from "node:path";
import { expect, test } from "vitest";
import { jsonl } from "../../cli/adapters/jsonl/adapter.ts";
import { maxLineBytes } from "../../cli/files/line-reader.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const inbox = ".local/share/spoor/jsonl";
const one = { source: "own", sourceId: "a", title: "One", messages: [{ position: 3, content: "Hello" }] };
const two = { sourceId: "b", messages: [] };

test("each line is a session, with all of its fields", async () => {
  const { sessions, counts } = await parseAll(jsonl, await makeHome({ [`${inbox}/x.jsonl`]: toLines(one, two) }));
  expect(sessions).toEqual([
    { source: "own", sourceId: "a", messages: one.messages, ending: { title: "One" } },
    { source: "unknown", sourceId: "b", messages: [], ending: {} },
  ]);
  expect(counts).toEqual({ entries: 2, skipped: 0, invalid: 0 });
});

test("CRLF, a byte order mark, empty lines and a line without its newline change nothing", async () => {
  const text = `\ufeff${toLines(one).trim()}\r\n\r\n   \r\n${JSON.stringify(two)}`;
  const { sessions, counts } = await parseAll(jsonl, await makeHome({ [`${inbox}/x.ndjson`]: text }));
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual(["a", "b"]);
  expect(counts).toEqual({ entries: 2, skipped: 0, invalid: 0 });
});

test("an incomplete last line is left for later; invalid lines are counted with their numbers and reasons", async () => {
  const text = `{"sourceId":\n[]\n{"sourceId":"c"}\n${toLines(one)}{"sourceId":"d","mess`;
  const { sessions, counts, invalid } = await parseAll(jsonl, await makeHome({ [`${inbox}/x.jsonl`]: text }));
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual(["a"]);
  const incomplete = "not a session: it needs sourceId and messages";
  expect(invalid).toEqual(["1: not JSON", `2: ${incomplete}`, `3: ${incomplete}`]);
  expect(counts).toEqual({ entries: 4, skipped: 0, invalid: 3 });
});

test("a line over the limit is reported, and the lines around it are read", async () => {
  const long = JSON.stringify({ sourceId: "long", messages: Array(maxLineBytes / 2 + 1).fill(0) });
  const host = await makeHome({ [`${inbox}/x.jsonl`]: `${toLines(one)}${long}\n${toLines(two)}` });
  const { sessions, rejected } = await parseAll(jsonl, host);
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual(["a", "b"]);
  expect(rejected).toEqual([{ sourceId: "x.jsonl", reason: expect.stringContaining("22 MiB") }]);
});

test("lines that span many chunks are read whole", async () => {
  const content = "ä𝄞x".repeat(400_000);
  const text = toLines({ sourceId: "wide", messages: [{ position: 0, content }] }, two);
  const { sessions } = await parseAll(jsonl, await makeHome({ [`${inbox}/deep/er/x.jsonl`]: text }));
  expect(sessions[0]?.messages[0]?.content === content).toBe(true);
  expect(sessions[1]?.sourceId).toBe("b");
});

test("SPOOR_JSONL changes the folders; a missing one is empty", async () => {
  const host = await makeHome({ "elsewhere/x.jsonl": toLines(one) });
  expect((await parseAll(jsonl, host)).sessions).toEqual([]);
  const env = { SPOOR_JSONL: join(host.home, "elsewhere") };
  expect((await parseAll(jsonl, { ...host, env })).sessions).toHaveLength(1);
});
