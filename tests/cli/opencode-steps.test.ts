import { expect, test } from "vitest";
import { kilo, opencode } from "../../cli/adapters/opencode/adapter.ts";
import { makeHome, parseAll } from "./home.ts";
import { answer, at, bash, data, database, done, files, placedFor, start, talk, tokens } from "./opencode-files.ts";

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

test("a fork's copied messages are marked and counted in the session that they were copied from", async () => {
  const own = answer([{ type: "text", text: "Anew" }], { time: { created: start + 9000 } });
  const about = { title: "Listing (fork #2)", time: { created: start + 5000 } };
  const { sessions } = await parseAll(opencode, await makeHome(files("ses_f", [...talk, own], about)));
  expect(sessions[0]?.messages.map(({ content, metadata }) => [content, metadata?.replayed])).toEqual([
    ["List.", true],
    ["ls.", true],
    ["bash\nls", true],
    ["a.ts", true],
    ["Anew", undefined],
  ]);
  expect(sessions[0]?.ending).toMatchObject({
    title: "Listing (fork #2)",
    createdAt: at(5),
    metadata: { usage: { inputTokens: 100, outputTokens: 40 } },
  });
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
