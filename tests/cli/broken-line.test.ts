import { describe, expect, test } from "vitest";
import type { Adapter } from "../../cli/adapters/adapter.ts";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { copilot } from "../../cli/adapters/copilot/adapter.ts";
import { jsonl } from "../../cli/adapters/jsonl/adapter.ts";
import { recoverRecords } from "../../cli/files/broken-line.ts";
import { makeHome, parseAll, toLines } from "./home.ts";
import { claudeLines, codexLines } from "./sessions.ts";

const one = JSON.stringify({ id: 1, text: 'It says }{ and "}{" and {"id":9} here.', inner: { list: [{ id: 8 }] } });
const two = JSON.stringify({ id: 2, text: "A backslash \\", inner: {} });
const getIds = (line: string) => recoverRecords(line).records.map(({ id }) => id);

describe("the intact records of a line", () => {
  test.each<[string, string, number[], boolean]>([
    ["two without the newline between them", one + two, [1, 2], false],
    ["two with NUL characters between them", `${one}\0\0\0${two}`, [1, 2], false],
    ["one behind NUL characters", `\0\0\0${one}`, [1], false],
    ["one before NUL characters", `${one}\0\0\0`, [1], false],
    ["one before a cut one", `${one}${two.slice(0, 20)}`, [1], true],
    ["one before something else", `${one}, and so on`, [1], true],
    ["one behind the end of another one", `${one.slice(9)}${two}`, [2], true],
    ["one between two cut ones", `${one.slice(0, 30)}${two}${one.slice(0, 30)}`, [2], true],
    ["two around a cut one", `${one}${two.slice(0, 20)}${one}`, [1, 1], true],
    ["none, but NUL characters", "\0\0\0", [], true],
    ["none of a cut one that has objects inside", one.slice(0, -4), [], true],
  ])("%s", (_, line, ids, isPartial) => {
    expect(getIds(line)).toEqual(ids);
    expect(recoverRecords(line).isPartial).toBe(isPartial);
  });

  test("are found wherever the record before is cut", () => {
    for (let at = 1; at < one.length; at++) expect([at, getIds(one.slice(0, at) + two).at(-1)]).toEqual([at, 2]);
  });

  test("a line of nothing but beginnings is given up on", () => {
    expect(recoverRecords('{"a":'.repeat(20_000))).toEqual({ records: [], isPartial: true });
    expect(recoverRecords('{"'.repeat(50_000))).toEqual({ records: [], isPartial: true });
  });
});

const copilotLines = ["First", "Second"].map((content, at) => {
  const timestamp = `2026-11-01T10:00:0${at}.000Z`;
  return { type: "user.message", id: `e${at}`, timestamp, data: { content, attachments: [] } };
});

describe("an adapter reads the intact records of broken lines, and tells what was lost", () => {
  const broken = ([first, ...others]: unknown[]): string => {
    const [second = "", ...more] = others.map((one) => JSON.stringify(one));
    return `\0\0${JSON.stringify(first)}\n${second.slice(0, second.length / 2)}${second}${more.join("")}\0\n`;
  };

  const id = "0199dddd-2222-4333-8444-555555555555";
  test.each<[Adapter, string, unknown[]]>([
    [claudeCode, `.claude/projects/-code-api/${id}.jsonl`, claudeLines(id, 1)],
    [codex, `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`, codexLines(id, 1)],
    [copilot, `.copilot/session-state/${id}/events.jsonl`, copilotLines],
    [jsonl, ".local/share/spoor/jsonl/x.jsonl", ["a", "b"].map((sourceId) => ({ sourceId, messages: [] }))],
  ])("$name", async (adapter, path, records) => {
    const whole = await parseAll(adapter, await makeHome({ [path]: toLines(...records) }));
    const read = await parseAll(adapter, await makeHome({ [path]: broken(records) }));
    expect(read.sessions).toEqual(whole.sessions);
    expect(read.invalid).toEqual(["2: a part of the line is not JSON"]);
  });
});
