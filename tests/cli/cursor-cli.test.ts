import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { cursor } from "../../cli/adapters/cursor/adapter.ts";
import { asked, at, converse, editor, put, said, start, store, talk } from "./cursor.ts";
import { tally } from "./databases.ts";
import { makeHome, parseAll, toLines, writeBelow } from "./home.ts";

const query = { role: "user", content: [{ type: "text", text: "<user_query>\nList.\n</user_query>" }] };
const call = { type: "tool-call", toolCallId: "t1", toolName: "Shell", args: { command: "ls" } };
const cliTalk = [
  { role: "system", content: "You are an agent." },
  { role: "user", content: "<user_info>\nOS\n</user_info>" },
  query,
  {
    role: "assistant",
    id: "1",
    content: [{ type: "redacted-reasoning", data: "x" }, { type: "reasoning", text: "ls" }, call],
  },
  {
    role: "tool",
    id: "t1",
    content: [{ type: "tool-result", toolCallId: "t1", toolName: "Shell", result: "Exit code: 0\n\na.ts" }],
    providerOptions: {
      cursor: { highLevelToolCallResult: { isError: false, output: { success: { executionTime: 52 } } } },
    },
  },
  query,
  { role: "assistant", id: "2", content: [{ type: "text", text: "The same." }] },
];

test("a session of the CLI is read from its tree of messages, the same one twice where it was said twice", async () => {
  const host = await makeHome({
    ".cursor/chats/0123/s-1/meta.json": JSON.stringify({ cwd: "/code/api", createdAtMs: start + 5 }),
  });
  store(host, "s-1", cliTalk);
  const { sessions, counts, unhandled } = await parseAll(cursor, host);
  expect(sessions[0]?.messages.map(({ role, content, metadata }) => [role, content, metadata])).toEqual([
    ["user", "<user_info>\nOS\n</user_info>", { kind: "notice" }],
    ["user", "List.", undefined],
    ["assistant", "ls", { kind: "thinking", model: "auto" }],
    ["assistant", "Shell\nls", { tool: { name: "Shell", callId: "t1", input: { command: "ls" }, content: "call" } }],
    ["tool", "Exit code: 0\n\na.ts", { result: { callId: "t1" }, durationMs: 52 }],
    ["user", "List.", undefined],
    ["assistant", "The same.", undefined],
  ]);
  expect(sessions[0]).toMatchObject({ sourceId: "s-1", ending: { model: "auto", project: "api", createdAt: at(0) } });
  expect(sessions[0]?.ending.title).toBeUndefined();
  expect([counts, unhandled]).toEqual([{ entries: 8, skipped: 2, invalid: 0 }, []]);
});

const transcript = toLines(
  { role: "user", message: { content: [{ type: "text", text: "<user_query>\nHi\n</user_query>" }] } },
  {
    role: "assistant",
    message: {
      content: [
        { type: "text", text: "[REDACTED]" },
        { type: "tool_use", name: "Read", input: { path: "a" } },
      ],
    },
  },
  {
    role: "user",
    message: { content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "A" }] }] },
  },
  { type: "turn_ended", status: "success" },
);

test("transcripts are read where no database has the session; a sub-agent's names its parent", async () => {
  const folder = ".cursor/projects/code-api";
  const host = await makeHome({
    [`${folder}/.workspace-trusted`]: JSON.stringify({ workspacePath: "/code/api" }),
    [`${folder}/agent-transcripts/s-1/s-1.jsonl`]: transcript,
    [`${folder}/agent-transcripts/s-2/s-2.jsonl`]: transcript,
    [`${folder}/agent-transcripts/s-2/subagents/s-3.jsonl`]: transcript,
    [`${folder}/terminals/1.jsonl`]: transcript,
  });
  store(host, "s-1", cliTalk);
  const { sessions, counts } = await parseAll(cursor, host);
  expect(sessions.map(({ sourceId, messages }) => [sourceId, tally(messages)])).toEqual([
    ["s-1", { notice: 1, user: 2, thinking: 1, call: 1, result: 1, assistant: 1 }],
    ["s-2", { user: 1, call: 1, result: 1 }],
    ["s-3", { user: 1, call: 1, result: 1 }],
  ]);
  expect(sessions[2]?.ending).toMatchObject({ project: "api", metadata: { parent: "s-2", cwd: "/code/api" } });
  expect(counts.invalid).toBe(0);
});

test("a session whose database has none of its messages is read from its transcript, until the database has them", async () => {
  const host = await makeHome({ ".cursor/projects/p/agent-transcripts/s-1/s-1.jsonl": transcript });
  store(host, "s-1", [], { latestRootBlobId: "ff".repeat(32) });
  const read = async () => (await parseAll(cursor, host)).sessions.map(({ messages }) => messages.length);
  expect(await read()).toEqual([3]);
  await rm(join(host.home, ".cursor/chats"), { recursive: true });
  store(host, "s-1", cliTalk);
  expect(await read()).toEqual([7]);
});

test("transcripts without a noted folder belong to the only one that theirs is named after", async () => {
  const place = (host: Host, path: string) => `${host.home}/${path}`.replace(/[^A-Za-z0-9]+/g, "-").slice(1);
  const host = await makeHome({ "code/my.app/x": "", "code/web/x": "", "code/a_b/x": "", "code/a/b/x": "" });
  for (const path of ["code/my.app", "code/a/b", "code/gone"])
    await writeBelow(
      host.home,
      `.cursor/projects/${place(host, path)}/agent-transcripts/${basename(path)}.jsonl`,
      transcript,
    );
  const { sessions } = await parseAll(cursor, host);
  const found = Object.fromEntries(sessions.map(({ sourceId, ending }) => [sourceId, ending.metadata?.cwd]));
  expect(found).toEqual({ "my.app": join(host.home, "code/my.app"), b: undefined, gone: undefined });
});

test("a small reading of the CLI's messages, in a database and in a transcript, counts the same", async () => {
  const turns = (talk: object[]) => Array.from({ length: 12 }, () => talk).flat();
  const lines = turns(
    transcript
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  const host = await makeHome({ ".cursor/projects/p/agent-transcripts/s-2/s-2.jsonl": toLines(...lines) });
  store(host, "s-1", turns(cliTalk));
  const { sessions } = await parseAll(cursor, host);
  const counted = (messages: object[]) => {
    const count = (word: string) => JSON.stringify(messages).split(word).length - 1;
    return {
      ...(count("<user_info>") > 0 && { notice: count("<user_info>") }),
      ...(count('"reasoning"') > 0 && { thinking: count('"reasoning"'), assistant: count("The same.") }),
      user: count("<user_query>"),
      call: count('"tool-call"') + count('"tool_use"'),
      result: count('"tool-result"') + count('"tool_result"'),
    };
  };
  const tallies = new Map(sessions.map(({ sourceId, messages }) => [sourceId, tally(messages)]));
  expect(tallies.get("s-1")).toEqual(counted(turns(cliTalk)));
  expect(tallies.get("s-2")).toEqual(counted(lines));
});

test("damaged databases and rows are told, and stop nothing", async () => {
  const host = await makeHome({ ".cursor/chats/0123/bad/store.db": "no database, but long enough".repeat(40) });
  const db = editor(host);
  converse(db, "kept", [asked, { ...said, bubbleId: "gone" }, { ...said, bubbleId: "cut" }, said]);
  db.exec("DELETE FROM cursorDiskKV WHERE key = 'bubbleId:kept:gone'");
  db.exec("UPDATE cursorDiskKV SET value = '{\"type\":2,\"te' WHERE key = 'bubbleId:kept:cut'");
  put(db, "composerData:", {});
  store(host, "lost", [query, { role: "ghost" }, { role: "assistant", content: [{ type: "dream" }] }]);
  store(host, "rootless", [], { latestRootBlobId: "ff".repeat(32) });
  const { sessions, invalid, unhandled, lost } = await parseAllTelling(host);
  db.close();
  expect(sessions.map(({ sourceId, messages }) => [sourceId, messages.length])).toEqual([
    ["kept", 2],
    ["lost", 1],
  ]);
  expect(invalid).toEqual([
    expect.stringContaining("message gone is missing"),
    expect.stringContaining("message cut is not a JSON object"),
    expect.stringContaining("message ffff"),
  ]);
  expect(unhandled).toEqual(["role.ghost", "content.dream"]);
  expect(lost).toEqual([expect.stringContaining("not a database")]);
});

/** As the client reads: an input that can't be read is told, and the others are read. */
async function parseAllTelling(host: Host) {
  const lost: string[] = [];
  const told = {
    ...cursor,
    parse: (input: Parameters<typeof cursor.parse>[0], sink: Parameters<typeof cursor.parse>[1]) =>
      cursor.parse(input, sink).catch((error) => void lost.push((error as Error).message)),
  };
  return { ...(await parseAll(told, host)), lost };
}

test("without SQLite in this Node one database tells it, and transcripts are read", async () => {
  const host = await makeHome({ ".cursor/projects/p/agent-transcripts/s-1/s-1.jsonl": transcript });
  store(host, "s-1", cliTalk);
  store(host, "s-2", cliTalk);
  const db = editor(host);
  converse(db, "c", talk);
  db.close();
  vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  const { sessions, lost } = await parseAll(cursor, host);
  vi.restoreAllMocks();
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual(["s-1"]);
  expect(lost).toEqual([expect.stringContaining("need Node 22.13 or later")]);
});

test("results and outputs that a transcript has in the assistant's messages are none of its words", async () => {
  const said = (role: string, ...content: object[]) => ({ role, message: { content } });
  const host = await makeHome({
    ".cursor/projects/p/agent-transcripts/s-4/s-4.jsonl": toLines(
      said("user", { type: "text", text: "<user_query>Build it</user_query>" }),
      said(
        "assistant",
        { type: "redacted", data: "[REDACTED]" },
        { type: "text", text: "I build it." },
        { type: "tool_use", id: "t1", name: "Shell", input: { command: "make" } },
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "built" }] },
        { type: "command_output", output: "$ make\nbuilt" },
      ),
    ),
  });
  const { sessions, unhandled } = await parseAll(cursor, host);
  expect(sessions[0]?.messages).toMatchObject([
    { role: "user", content: "Build it" },
    { role: "assistant", content: "I build it." },
    { metadata: { tool: { callId: "t1" } } },
    { role: "tool", content: "built", metadata: { result: { callId: "t1" } } },
    { content: "$ make\nbuilt", metadata: { kind: "notice" } },
  ]);
  expect(unhandled).toEqual([]);
});
