import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { kilo, opencode } from "../../cli/adapters/opencode/adapter.ts";
import { makeHome, parseAll } from "./home.ts";
import { answer, bash, data, database, done, files, placedFor, start, talk, tokens } from "./opencode-files.ts";

test("each step of a message counts its own tokens and cost, which the message's own do not sum up", async () => {
  const step = (text: string, output: number, cost: number) => [
    { type: "text", text },
    { type: "step-finish", reason: "tool-calls", tokens: { ...tokens, output }, cost },
  ];
  const { info } = answer([], { cost: 9, tokens: { ...tokens, output: 5 } });
  const rest = { type: "text", text: "Cut off" };
  const parts = [...step("One", 40, 0.25), ...step("Two", 5, 0.5), rest];
  const { sessions } = await parseAll(kilo, await makeHome(placedFor("kilo", files("ses_a", [{ info, parts }]))));
  expect(
    sessions[0]?.messages.map(({ content, tokenCount, metadata }) => [content, tokenCount, metadata?.costUsd]),
  ).toEqual([
    ["One", 40, 0.25],
    ["Two", 5, 0.5],
    ["Cut off", undefined, undefined],
  ]);
  expect(sessions[0]?.messages.map(({ metadata }) => metadata?.uuid)).toEqual(["msg_a_0", undefined, undefined]);
  expect(sessions[0]?.ending.metadata?.usage).toMatchObject({
    inputTokens: 200,
    outputTokens: 45,
    cacheReadTokens: 600,
  });
});

const anew = answer([{ type: "text", text: "Anew" }], { time: { created: start + 9000 } });

/** By session: which messages are copies, of what, and the tokens that count. */
async function forksIn(host: Host) {
  const { sessions } = await parseAll(opencode, host);
  return sessions.map(({ sourceId, messages, ending }) => {
    const { forkedFrom, usage } = ending.metadata as { forkedFrom?: string; usage?: { outputTokens?: number } };
    return [sourceId, messages.map(({ metadata }) => metadata?.replayed ?? false), forkedFrom, usage?.outputTokens];
  });
}

test("a fork's messages are copies where the other session has them, whatever its title is", async () => {
  const later = { title: "Renamed", time: { created: start + 5000 } };
  const original = files("ses_o", talk);
  const fork = files("ses_f", [...talk, anew], later);
  const host = await makeHome({ ...original, ...fork });
  expect((await forksIn(host)).sort()).toEqual([
    ["ses_f", [true, true, true, true, false], "ses_o", 40],
    ["ses_o", [false, false, false, false], undefined, 40],
  ]);
  expect(await forksIn(await makeHome(fork))).toEqual([["ses_f", [false, false, false, false, false], undefined, 80]]);
});

test("forks in a database, also of forks, are known by their messages, and one whose original is gone counts them", async () => {
  const host = await makeHome({ [`${data}/log/x.log`]: "" });
  const more = answer([{ type: "text", text: "More" }], { time: { created: start + 12_000 } });
  const db = database(host, { ses_1: talk, ses_2: [...talk, anew], ses_3: [...talk, anew, more] });
  const copies = (count: number, own: number) => Array.from({ length: count + own }, (_, at) => at < count);
  expect(await forksIn(host)).toEqual([
    ["ses_1", copies(0, 4), undefined, 40],
    ["ses_2", copies(4, 1), "ses_1", 40],
    ["ses_3", copies(5, 1), "ses_2", 40],
  ]);
  db.exec("DELETE FROM session WHERE id = 'ses_1'; DELETE FROM message WHERE session_id = 'ses_1'");
  expect(await forksIn(host)).toEqual([
    ["ses_2", copies(0, 5), undefined, 80],
    ["ses_3", copies(5, 1), "ses_2", 40],
  ]);
  db.close();
});

test("a title that stands for none is left out, and a session without a folder has its project's", async () => {
  const about = { title: "New session - 2026-11-01T10:00:00.000Z", directory: undefined };
  const invalid = bash({ ...done, output: "The arguments are invalid.", metadata: {} });
  const written = files("ses_a", [...talk, answer([{ ...invalid, tool: "invalid" }])], about);
  const project = { [`${data}/storage/project/p1.json`]: JSON.stringify({ id: "p1", worktree: "/code/shop" }) };
  const host = await makeHome({ ...written, ...project });
  const db = database(host, { ses_b: talk });
  db.exec(`ALTER TABLE session ADD project_id TEXT;
    CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT);
    INSERT INTO project VALUES ('p2', '/code/web');
    UPDATE session SET project_id = 'p2', directory = NULL, title = 'Child session - 2026-11-01T10:00:00.000Z (fork #1)'`);
  db.close();
  const { sessions } = await parseAll(opencode, host);
  expect(sessions.map(({ sourceId, ending }) => [sourceId, ending.title, ending.project])).toEqual([
    ["ses_b", undefined, "web"],
    ["ses_a", undefined, "shop"],
  ]);
  expect(sessions[1]?.messages.at(-1)?.metadata?.result).toEqual({ callId: "c1", isError: true });
});
