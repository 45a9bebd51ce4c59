import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { KnownLines } from "../../cli/adapters/claude-code/family/known-lines.ts";
import { call, id, Lines, makeUuid, otherId, text } from "./claude-lines.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

type Line = Record<string, unknown>;

const thirdId = "33333333-2222-4333-8444-555555555555";
const makePath = (sessionId: string, folder = "-p") => `.claude/projects/${folder}/${sessionId}.jsonl`;
const as = (sessionId: string, lines: Line[]) => lines.map((line) => ({ ...line, sessionId }));

/** Three turns, the second with a commit; without request ids, as behind some gateways. */
function turns(): [Line[], Line[], Line[]] {
  const make = new Lines();
  const usage = (output_tokens: number) => ({ usage: { input_tokens: 0, output_tokens } });
  return [
    [make.said("First"), make.answered(text("One."), { id: "msg_1", ...usage(100) })],
    [
      make.said("Second"),
      make.answered(call("t1", "git commit -m x"), { id: "msg_2", ...usage(200) }),
      make.result("t1", "[main abc1234] x"),
    ],
    [make.said("Third"), make.answered(text("Three."), { id: "msg_3", ...usage(300) })],
  ];
}

/** By session: how many messages are copies, of which session, how many tokens count, and the commits. */
async function readFamily(host: Host) {
  const { sessions } = await parseAll(claudeCode, host);
  return Object.fromEntries(
    sessions.map(({ sourceId, messages, ending }) => {
      const { forkedFrom, usage, commits = [] } = ending.metadata as Line & { commits?: { hash: string }[] };
      const { outputTokens = 0 } = (usage ?? {}) as { outputTokens?: number };
      const copies = messages.filter(({ metadata }) => metadata?.replayed).length;
      return [sourceId, [copies, forkedFrom, outputTokens, commits.map(({ hash }) => hash).join()]];
    }),
  );
}

test("of a session that was resumed twice into new files each line, token and commit counts once", async () => {
  const [first, second, third] = turns();
  const host = await makeHome({
    [makePath(thirdId)]: toLines(...as(thirdId, [...first, ...second, ...third])),
    [makePath(id)]: toLines(...as(id, [...first, ...second])),
    [makePath(otherId)]: toLines(...as(otherId, first)),
  });
  expect(await readFamily(host)).toEqual({
    [otherId]: [0, undefined, 100, ""],
    [id]: [2, otherId, 200, "abc1234"],
    [thirdId]: [5, id, 300, ""],
  });
  await rm(join(host.home, makePath(id)));
  expect(await readFamily(host)).toEqual({
    [otherId]: [0, undefined, 100, ""],
    [thirdId]: [2, otherId, 500, "abc1234"],
  });
});

test("a fork keeps what it copied without counting it, in whatever folder its original is; one whose original is gone counts it", async () => {
  const [first, second] = turns();
  const copied = first.map((line) => ({ ...line, forkedFrom: { sessionId: otherId, messageUuid: line.uuid } }));
  const host = await makeHome({
    [makePath(id)]: toLines(...as(id, [...copied, ...second])),
    [makePath(otherId, "-elsewhere")]: toLines(...as(otherId, first)),
  });
  expect(await readFamily(host)).toEqual({
    [otherId]: [0, undefined, 100, ""],
    [id]: [2, otherId, 200, "abc1234"],
  });
  await rm(join(host.home, makePath(otherId, "-elsewhere")));
  expect(await readFamily(host)).toEqual({ [id]: [0, otherId, 300, "abc1234"] });
});

test("a fork that names its original is the younger one, also where it ends before the original's own lines begin", async () => {
  const [first, second] = turns();
  const copied = first.map((line) => ({ ...line, forkedFrom: { sessionId: otherId, messageUuid: line.uuid } }));
  const host = await makeHome({
    [makePath(id)]: toLines(...as(id, copied)),
    [makePath(otherId)]: toLines(...as(otherId, [...first, ...second])),
  });
  expect(await readFamily(host)).toEqual({
    [otherId]: [0, undefined, 300, "abc1234"],
    [id]: [2, otherId, 0, ""],
  });
});

test("a line of another session's id is a copy only where that session has it, with its time", async () => {
  const [first, second, third] = turns();
  const later = { timestamp: "2026-11-02T10:00:00.000Z" };
  const [question = {}, answer = {}] = as(otherId, first);
  const host = await makeHome({
    [makePath(id)]: toLines(question, { ...answer, ...later }, ...as(otherId, second), ...as(id, third)),
    [makePath(otherId)]: toLines(...as(otherId, first)),
  });
  expect(await readFamily(host)).toEqual({
    [otherId]: [0, undefined, 100, ""],
    [id]: [1, otherId, 600, "abc1234"],
  });
});

test("of two copies of one file that both went on, what they share counts once", async () => {
  const [first, second, third] = turns();
  const conflict = `${id}.sync-conflict-20261101-100000-ABCDEFG`;
  const host = await makeHome({
    [makePath(id)]: toLines(...first, ...second),
    [makePath(conflict)]: toLines(...first, ...third),
  });
  expect(await readFamily(host)).toEqual({
    [id]: [0, undefined, 300, "abc1234"],
    [conflict]: [2, id, 300, ""],
  });
});

test("of an answer of which only the first lines were copied, the session itself adds what these did not have", async () => {
  const make = new Lines();
  const part = (words: string, output: number) =>
    make.answered(text(words), { usage: { input_tokens: 5, output_tokens: output } }, { requestId: "req_1" });
  const lines = [make.said("One"), part("Looking", 2), part("Found", 90)];
  const host = await makeHome({
    [makePath(otherId)]: toLines(...as(otherId, lines.slice(0, 2))),
    [makePath(id)]: toLines(...as(id, lines)),
  });
  const { sessions } = await parseAll(claudeCode, host);
  const used = sessions.map(({ sourceId, ending }) => [sourceId, ending.metadata?.usage]);
  expect(Object.fromEntries(used)).toEqual({
    [otherId]: { inputTokens: 5, outputTokens: 2 },
    [id]: { outputTokens: 88 },
  });
});

test("a fork began with its own first line; without any, with the first that it copied", async () => {
  const [first, second] = turns();
  const began = async (more: Line[]) => {
    const host = await makeHome({
      [makePath(otherId)]: toLines(...as(otherId, first)),
      [makePath(id)]: toLines(...as(id, [...first, ...more])),
    });
    const { sessions } = await parseAll(claudeCode, host);
    return sessions.find(({ sourceId }) => sourceId === id)?.ending.createdAt;
  };
  expect(await began(second)).toBe(second[0]?.timestamp);
  expect(await began([])).toBe(first[0]?.timestamp);
});

test("what was copied counts once also where the first line of a file is broken", async () => {
  const [first, second] = turns();
  const [opening = "", ...others] = toLines(...as(id, [...first, ...second])).split("\n");
  const host = await makeHome({
    [makePath(otherId)]: toLines(...as(otherId, first)),
    [makePath(id)]: [`${opening.slice(0, 20)}${opening}`, ...others].join("\n"),
  });
  expect(await readFamily(host)).toEqual({
    [otherId]: [0, undefined, 100, ""],
    [id]: [2, otherId, 200, "abc1234"],
  });
});

test("sub-agents in the files of a resumed session count in the first one", async () => {
  const make = new Lines();
  const side = { isSidechain: true };
  const usage = { usage: { output_tokens: 10 } };
  const lines = [make.said("Main"), make.said("Task", side), make.answered(text("Done."), usage, side)];
  const host = await makeHome({
    [makePath(otherId)]: toLines(...as(otherId, lines)),
    [makePath(id)]: toLines(...as(id, [...lines, make.said("Next")])),
  });
  expect(await readFamily(host)).toEqual({
    [otherId]: [0, undefined, 0, ""],
    [`${otherId}/sidechain`]: [0, undefined, 10, ""],
    [id]: [1, otherId, 0, ""],
    [`${id}/sidechain`]: [2, `${otherId}/sidechain`, 0, ""],
  });
});

test("a file of any length knows all of its lines when its history is written once more, also from a checkpoint on", () => {
  const lines = Array.from({ length: 50_000 }, (_, at) => ({
    uuid: makeUuid(at),
    timestamp: new Date(Date.parse("2026-11-01") + at).toISOString(),
  }));
  const known = new KnownLines();
  expect(lines.filter((line) => known.has(line))).toEqual([]);
  const resumed = new KnownLines(JSON.parse(JSON.stringify(known.save())));
  expect(lines.filter((line) => !resumed.has(line))).toEqual([]);
  expect(resumed.has({ ...lines[7], timestamp: lines[8]?.timestamp })).toBe(false);
});
