import { join } from "node:path";
import { expect, test } from "vitest";
import { antigravity } from "../../cli/adapters/antigravity/adapter.ts";
import { makeDatabase, tally } from "./databases.ts";
import { discoverAll, makeHome, parseAll, toLines, told, writeBelow } from "./home.ts";

const at = (seconds: number) => new Date(Date.parse("2026-11-01T10:00:00Z") + seconds * 1000).toISOString();
const root = ".gemini/antigravity-cli";
const logs = (id: string, name = "transcript_full.jsonl") => `${root}/brain/${id}/.system_generated/logs/${name}`;

const step = (index: number, type: string, more: object = {}) => ({
  step_index: index,
  source: type === "USER_INPUT" ? "USER_EXPLICIT" : "MODEL",
  type,
  status: "DONE",
  created_at: at(index),
  ...more,
});
const settings =
  "<USER_SETTINGS_CHANGE>\nThe user changed setting `Model Selection` from None to Gemini 3.5 Flash (Medium).\n</USER_SETTINGS_CHANGE>";
const asked = step(0, "USER_INPUT", { content: `<USER_REQUEST>\nList.\n</USER_REQUEST>\n${settings}` });
const planned = step(2, "PLANNER_RESPONSE", {
  thinking: "ls.",
  tool_calls: [
    { name: "list_dir", args: { DirectoryPath: "/code/api" } },
    { name: "run_command", args: { CommandLine: "make" } },
  ],
});
const steps = [
  asked,
  step(1, "CONVERSATION_HISTORY"),
  planned,
  step(4, "LIST_DIRECTORY", { content: "a.ts" }),
  step(3, "RUN_COMMAND", { content: "Started.", status: "RUNNING" }),
  step(5, "PLANNER_RESPONSE", { content: "One file." }),
];

test("a transcript has its turns in the order of their steps, calls with results, the model, folder and title", async () => {
  const host = await makeHome({
    [logs("c-1")]: toLines(...steps),
    [logs("c-1", "transcript.jsonl")]: toLines(asked),
    [`${root}/brain/c-1/.system_generated/tasks/task-3.log`]: "built\n",
    [`${root}/history.jsonl`]: toLines(
      { display: "?", workspace: "/x" },
      { conversationId: "c-1", workspace: "/code/api" },
    ),
  });
  const db = makeDatabase(
    join(host.home, root, "conversation_summaries.db"),
    "CREATE TABLE conversation_summaries (conversation_id TEXT, title TEXT, preview TEXT)",
  );
  db.exec("INSERT INTO conversation_summaries VALUES ('c-1', 'Listing', '')");
  const { sessions, counts, unhandled } = await parseAll(antigravity, host);
  db.close();
  expect(sessions.map(({ sourceId, ending }) => [sourceId, ending])).toEqual([
    [
      "c-1",
      {
        model: "Gemini 3.5 Flash (Medium)",
        title: "Listing",
        project: "api",
        createdAt: at(0),
        metadata: { cwd: "/code/api" },
      },
    ],
  ]);
  expect(
    sessions[0]?.messages.map(({ role, content, createdAt, metadata }) => [
      role,
      content,
      createdAt,
      metadata?.kind ?? metadata?.result,
    ]),
  ).toEqual([
    ["user", settings, at(0), "notice"],
    ["user", "List.", at(0), undefined],
    ["assistant", "ls.", at(2), "thinking"],
    ["assistant", "list_dir\n/code/api", at(2), undefined],
    ["assistant", "run_command\nmake", at(2), undefined],
    ["tool", "Started.\nbuilt\n", at(3), { callId: "2.1" }],
    ["tool", "a.ts", at(4), { callId: "2.0" }],
    ["assistant", "One file.", at(5), undefined],
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 6, skipped: 1, invalid: 0 }, []]);
});

test("a conversation that the history does not name has the folder whose latest one it is", async () => {
  const host = await makeHome({
    [logs("c-1")]: toLines(...steps),
    [logs("c-2")]: toLines(...steps),
    [`${root}/history.jsonl`]: toLines({ display: "List.", workspace: "/code/web" }),
    [`${root}/cache/last_conversations.json`]: JSON.stringify({ "/code/web": "c-9", "/code/api": "c-1" }),
  });
  const { sessions } = await parseAll(antigravity, host);
  expect(sessions.map(({ sourceId, ending }) => [sourceId, ending.project])).toEqual([
    ["c-1", "api"],
    ["c-2", undefined],
  ]);
});

test("counts by kind are those of the lines, and a transcript's stamp changes with its commands' output", async () => {
  const many = Array.from({ length: 50 }, (_, turn) =>
    steps.map((one) => ({ ...one, step_index: turn * 6 + one.step_index })),
  ).flat();
  const host = await makeHome({ [logs("long")]: toLines(...many) });
  const { sessions } = await parseAll(antigravity, host);
  const count = (word: string) => toLines(...many).split(word).length - 1;
  expect(tally(sessions[0]?.messages ?? [])).toEqual({
    notice: count("<USER_SETTINGS_CHANGE>"),
    user: count("<USER_REQUEST>"),
    thinking: count('"thinking"'),
    call: count('"args"'),
    result: count("LIST_DIRECTORY") + count("RUN_COMMAND"),
    assistant: count("One file."),
  });
  const before = await discoverAll(antigravity, host);
  await writeBelow(host.home, `${root}/brain/long/.system_generated/tasks/task-3.log`, "x");
  const after = await discoverAll(antigravity, host);
  expect([before.length, after[0]?.stamp === before[0]?.stamp]).toEqual([1, false]);
});

test("the short transcript is read where it is the only one: quoted arguments, texts that are cut off", async () => {
  const quoted = step(1, "PLANNER_RESPONSE", {
    tool_calls: [{ name: "view_file", args: { AbsolutePath: '"/a"', StartLine: "3", Odd: "{" } }],
  });
  const cut = step(2, "VIEW_FILE", { content: "1: hel", truncated_fields: ["content"], status: "ERROR" });
  const host = await makeHome({
    ".gemini/antigravity/brain/c-2/.system_generated/logs/transcript.jsonl": toLines(asked, quoted, cut),
  });
  const { sessions } = await parseAll(antigravity, host);
  expect(sessions[0]?.messages[2]?.metadata?.tool).toMatchObject({
    input: { AbsolutePath: "/a", StartLine: 3, Odd: "{" },
  });
  expect(sessions[0]?.messages[3]?.metadata).toEqual({ result: { callId: "1.0", isError: true }, truncated: true });
});

test("unknown steps are counted, and are a result where a call waits for one; the rest is read", async () => {
  const host = await makeHome({
    [logs("drift")]: `${toLines(
      { ...step(0, "USER_INPUT", { content: "Plain" }), source: undefined },
      step(1, "BROWSER_NAVIGATE", { content: "opened" }),
      step(2, "PLANNER_RESPONSE", { tool_calls: [{ name: "browser", args: {} }, 7] }),
      step(3, "BROWSER_NAVIGATE", { content: "opened" }),
      step(9, "CHECKPOINT", { content: "Cut here" }),
      { ...step(8, "USER_INPUT", { content: "<SYSTEM_MESSAGE>x</SYSTEM_MESSAGE>" }), source: "SYSTEM" },
      { type: 7 },
    )}{"step_index"\n`,
  });
  const { sessions, unhandled, counts } = await parseAll(antigravity, host);
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "Plain", undefined],
    ["assistant", "browser", undefined],
    ["tool", "opened", { callId: "2.0" }],
    ["user", "<SYSTEM_MESSAGE>x</SYSTEM_MESSAGE>", "notice"],
    ["system", "Cut here", "notice"],
  ]);
  expect([unhandled, counts.invalid]).toEqual([["BROWSER_NAVIGATE", "BROWSER_NAVIGATE", "(none)"], 1]);
});
