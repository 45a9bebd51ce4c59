import { expect, test } from "vitest";
import { amp } from "../../cli/adapters/amp/adapter.ts";
import { continueDev } from "../../cli/adapters/continue/adapter.ts";
import { discoverAll, kinds, makeHome, parseAll, writeBelow } from "./home.ts";

const start = Date.parse("2026-11-01T10:00:00Z");
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();
const threads = ".local/share/amp/threads";
const result = (id: string, run: object) => ({ type: "tool_result", toolUseID: id, run });
const thread = {
  v: 3,
  id: "T-1",
  created: start,
  messages: [
    { role: "user", content: [{ type: "text", text: "Fix it" }], meta: { sentAt: start + 1000 } },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "x" },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "a", name: "Bash", input: { cmd: "npm test" } },
        { type: "tool_use", id: "b", name: "Read", input: { path: "a.ts" } },
        { type: "tool_use", id: "c", name: "Grep", input: {} },
        { type: "tool_use", id: "d", name: "Task", input: {} },
      ],
      state: { type: "complete", stopReason: "tool_use" },
      usage: {
        model: "claude-opus-4-5",
        inputTokens: 10,
        outputTokens: 5,
        cacheCreationInputTokens: 7,
        cacheReadInputTokens: 100,
        timestamp: at(2),
      },
    },
    {
      role: "user",
      content: [
        result("a", { status: "done", result: { output: "1 failed", exitCode: 1 } }),
        result("b", { status: "done", result: ["x", "y"] }),
        result("c", { status: "error", error: { message: "No." } }),
        result("d", { status: "in-progress" }),
      ],
    },
    {
      role: "assistant",
      content: [{ type: "text", text: "Done." }],
      usage: {
        model: "gpt-5.2",
        inputTokens: 0,
        outputTokens: 3,
        cacheCreationInputTokens: 20,
        cacheReadInputTokens: 1,
      },
    },
    { role: "ghost", content: [] },
    7,
  ],
  title: "A fix",
  env: {
    initial: {
      trees: [
        {
          displayName: "api",
          uri: "file:///home/ada/my%20code/api",
          repository: { type: "git", url: "https://example.org/a/api.git", ref: "refs/heads/main" },
        },
      ],
      platform: { clientVersion: "0.0.1" },
    },
  },
};

test("an Amp thread has its turns, results by what became of the call, and tokens once", async () => {
  const host = await makeHome({ [`${threads}/T-1.json`]: JSON.stringify(thread), [`${threads}/other.json`]: "{}" });
  const { sessions, unhandled, counts } = await parseAll(amp, host);
  expect(sessions).toHaveLength(1);
  expect(kinds(sessions[0]?.messages)).toEqual([
    ["user", "", "Fix it"],
    ["assistant", "thinking", "Hm."],
    ["assistant", "", "I look."],
    ["assistant", "call", "Bash\nnpm test"],
    ["assistant", "call", "Read\na.ts"],
    ["assistant", "call", "Grep"],
    ["assistant", "call", "Task"],
    ["tool", "result", "1 failed"],
    ["tool", "result", "x\ny"],
    ["tool", "result", "No."],
    ["assistant", "", "Done."],
  ]);
  expect(sessions[0]?.messages.flatMap(({ metadata }) => metadata?.result ?? [])).toEqual([
    { callId: "a", exitCode: 1 },
    { callId: "b" },
    { callId: "c", isError: true },
  ]);
  expect(sessions[0]?.messages[1]).toMatchObject({
    createdAt: at(2),
    tokenCount: 5,
    metadata: { model: "claude-opus-4-5", stopReason: "tool_use" },
  });
  expect(sessions[0]?.ending).toMatchObject({
    title: "A fix",
    project: "api",
    model: "gpt-5.2",
    createdAt: at(0),
    metadata: {
      cwd: "/home/ada/my code/api",
      branch: "main",
      repository: "https://example.org/a/api.git",
      agentVersion: "0.0.1",
      usage: { inputTokens: 10, outputTokens: 8, cacheReadTokens: 101, cacheWriteTokens: 27 },
    },
  });
  expect([unhandled, counts]).toEqual([["role.ghost"], { entries: 6, skipped: 0, invalid: 1 }]);
});

test("an Amp thread that is cut off has what is there, and counts; XDG_DATA_HOME moves the folder", async () => {
  const host = await makeHome({ "data/amp/threads/T-2.json": JSON.stringify(thread).slice(0, 200) });
  const { sessions, counts } = await parseAll(amp, { ...host, env: { XDG_DATA_HOME: `${host.home}/data` } });
  expect(kinds(sessions[0]?.messages)).toEqual([["user", "", "Fix it"]]);
  expect(counts.invalid).toBe(1);
});

const call = (id: string, name: string, input: string) => ({
  id,
  type: "function",
  function: { name, arguments: input },
});
const history = [
  {
    message: {
      role: "user",
      content: [
        { type: "text", text: "List" },
        { type: "imageUrl", imageUrl: { url: "data:" } },
      ],
    },
    contextItems: [{ name: "a.ts", description: "a.ts", content: "x" }],
  },
  {
    message: {
      role: "assistant",
      content: "I list.",
      toolCalls: [call("1", "ls", '{"dirPath":"."}'), call("2", "grep_search", "{}"), call("3", "read_file", "{}")],
      usage: { promptTokens: 110, completionTokens: 5, promptTokensDetails: { cachedTokens: 100 } },
    },
    contextItems: [],
    reasoning: { active: false, text: "Hm.", startAt: start + 3000, endAt: start + 4000 },
    promptLogs: [{ modelTitle: "Opus", modelProvider: "anthropic", prompt: "…", completion: "…" }],
    toolCallStates: [
      {
        toolCallId: "1",
        toolCall: call("1", "ls", "{}"),
        parsedArgs: { dirPath: "." },
        status: "done",
        output: [{ content: "a" }, { content: "b" }],
      },
      { toolCallId: "2", toolCall: call("2", "grep_search", '{"query":"q"}'), status: "canceled" },
    ],
  },
  { message: { role: "tool", content: "a\n\nb", toolCallId: "1" }, contextItems: [] },
  { message: { role: "tool", content: "file", toolCallId: "3" }, contextItems: [] },
  { message: { role: "thinking", content: "Then." }, contextItems: [] },
  { message: { role: "assistant", content: "Done." }, contextItems: [], conversationSummary: "They listed." },
  { message: { role: "system", content: "Be brief." }, contextItems: [] },
  { message: { role: "system", content: "" }, contextItems: [] },
  { message: { role: "ghost" }, contextItems: [] },
];

test("a Continue session has its turns, calls with results once, and the list's date", async () => {
  const session = {
    sessionId: "s",
    title: "Listing",
    workspaceDirectory: "file:///c%3A/code/web",
    history,
    usage: { promptTokens: 1, completionTokens: 1 },
  };
  const host = await makeHome({
    ".continue/sessions/s.json": JSON.stringify(session, null, 2),
    ".continue/sessions/sessions.json": JSON.stringify([{ sessionId: "s", dateCreated: String(start) }]),
  });
  const { sessions, unhandled } = await parseAll(continueDev, host);
  expect(kinds(sessions[0]?.messages)).toEqual([
    ["user", "", "List\n[image]"],
    ["assistant", "thinking", "Hm."],
    ["assistant", "", "I list."],
    ["assistant", "call", "ls\n."],
    ["tool", "result", "a\n\nb"],
    ["assistant", "call", "grep_search\nq"],
    ["tool", "result", "The call was canceled."],
    ["assistant", "call", "read_file"],
    ["tool", "result", "file"],
    ["assistant", "thinking", "Then."],
    ["assistant", "", "Done."],
    ["system", "notice", "They listed."],
    ["system", "notice", "Be brief."],
  ]);
  expect(sessions[0]?.messages[0]?.metadata).toEqual({
    attachments: [{ type: "file", name: "a.ts" }, { type: "image" }],
  });
  expect(sessions[0]?.ending).toMatchObject({
    title: "Listing",
    project: "web",
    model: "Opus",
    createdAt: at(0),
    metadata: { cwd: "c:/code/web", usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 100 } },
  });
  expect(unhandled).toEqual(["role.ghost"]);
});

test("a Continue session whose answers name no tokens has the session's; a newer file another stamp", async () => {
  const short = {
    sessionId: "s",
    title: "New Session",
    workspaceDirectory: "",
    history: [{ message: { role: "user", content: "Hi" } }],
    usage: { promptTokens: 9, completionTokens: 2, totalCost: 0.1 },
  };
  const host = await makeHome({ "c/sessions/s.json": JSON.stringify(short) });
  const moved = { ...host, env: { CONTINUE_GLOBAL_DIR: `${host.home}/c` } };
  const { sessions } = await parseAll(continueDev, moved);
  expect(sessions[0]?.ending).toEqual({ metadata: { usage: { inputTokens: 9, outputTokens: 2 } } });
  const [before] = await discoverAll(continueDev, moved);
  await writeBelow(host.home, "c/sessions/s.json", `${JSON.stringify(short)} `);
  expect((await discoverAll(continueDev, moved))[0]?.stamp).not.toBe(before?.stamp);
});
