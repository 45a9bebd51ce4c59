import { join } from "node:path";
import { expect, test } from "vitest";
import { cline } from "../../cli/adapters/cline/adapter.ts";
import { findDuring, Search } from "../../cli/files/search.ts";
import { at, environment, id, request, say, start, storage, task, text } from "./cline-tasks.ts";
import { discoverAll, makeHome, parseAll, writeBelow } from "./home.ts";

const talk = [
  {
    role: "user",
    content: [
      text(
        "<task>\nFix 'a.ts' (see below for file content)\n</task>\n\n<file_content path=\"a.ts\">\n1\n</file_content>",
      ),
      text(environment),
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "x" },
      text("I read it."),
      { type: "tool_use", id: "t1", name: "read_file", input: { path: "a.ts" } },
      { type: "tool_use", id: "t2", name: "execute_command", input: { command: "git commit -m Fix" } },
    ],
    modelInfo: { modelId: "claude-opus-4-5", providerId: "anthropic", mode: "act" },
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "t1", content: "[read_file for 'a.ts'] Result:\nlet a = 1;" },
      {
        type: "tool_result",
        tool_use_id: "t2",
        content: [
          text("Command executed.\nOutput:\n[main abc1234] Fix\n 1 file changed"),
          text("<feedback>\nWell done\n</feedback>"),
        ],
      },
      text(environment),
    ],
  },
  {
    role: "assistant",
    content: [{ type: "tool_use", id: "t3", name: "attempt_completion", input: { result: "It is fixed." } }],
  },
  {
    role: "user",
    content: [
      {
        type: "tool_result",
        tool_use_id: "t3",
        content: "The user has provided feedback.\n<feedback>\nMore\n</feedback>",
      },
    ],
  },
];

const display = [
  say(0, "task", "Fix 'a.ts'", { conversationHistoryIndex: -1 }),
  request(1, 10, 20, { conversationHistoryIndex: -1 }),
  say(3, "text", "I read it.", { conversationHistoryIndex: 0 }),
  say(4, "checkpoint_created", "", { conversationHistoryIndex: 0 }),
  // It failed and was repeated.
  request(5, 1, 0, { conversationHistoryIndex: 1 }),
  request(6, 30, 40, { conversationHistoryIndex: 1 }),
  say(8, "completion_result", "It is fixed.", { conversationHistoryIndex: 2 }),
  request(9, 7, 0, { conversationHistoryIndex: 3 }),
];

/** Reads the fixture again, simply: sums of tokens and costs, and how many calls and results there are. */
function countedApart(messages: typeof talk, shown: typeof display) {
  const told = shown.filter(({ say: kind }) => kind === "api_req_started").map((one) => JSON.parse(one.text));
  const sum = (field: string) => told.reduce((total, one) => total + one[field], 0);
  const blocks = messages.flatMap(({ content }) => content as { type: string; name?: string; tool_use_id?: string }[]);
  return {
    usage: {
      inputTokens: sum("tokensIn"),
      outputTokens: sum("tokensOut"),
      cacheReadTokens: sum("cacheReads"),
      cacheWriteTokens: sum("cacheWrites"),
    },
    cost: sum("cost"),
    calls: blocks.filter(({ type, name }) => type === "tool_use" && name !== "attempt_completion").length,
    results: blocks.filter(({ type, tool_use_id }) => type === "tool_result" && tool_use_id !== "t3").length,
  };
}

test("a task has what was sent to the model, with times, tokens and costs of the display", async () => {
  const files = task({ "api_conversation_history.json": talk, "ui_messages.json": display });
  const history = [{ id, ts: start, task: "Fix  'a.ts'\nnow", cwdOnTaskInitialization: "/home/ada/code/api" }];
  const host = await makeHome({ ...files, [`${storage}/state/taskHistory.json`]: JSON.stringify(history) });
  const { sessions, counts, unhandled } = await parseAll(cline, host);
  const apart = countedApart(talk, display);
  const [session] = sessions;
  expect(session).toMatchObject({
    source: "cline",
    sourceId: id,
    messages: [
      { role: "user", content: "Fix 'a.ts' (see below for file content)", createdAt: at(0) },
      { role: "user", content: expect.stringContaining("<file_content"), metadata: { kind: "notice" } },
      { role: "user", content: "[image: image/png, 1 KiB]", metadata: { attachments: [{ type: "image/png" }] } },
      {
        role: "assistant",
        content: "Hm.",
        createdAt: at(3),
        tokenCount: 20,
        metadata: { kind: "thinking", model: "claude-opus-4-5", costUsd: 0.25, usage: { inputTokens: 10 } },
      },
      { role: "assistant", content: "I read it." },
      { metadata: { tool: { name: "read_file", callId: "t1", input: { path: "a.ts" } } } },
      { metadata: { tool: { name: "execute_command", callId: "t2" } } },
      { role: "tool", content: "let a = 1;", createdAt: at(5), metadata: { result: { callId: "t1" } } },
      {
        role: "tool",
        content: expect.stringMatching(/^Command executed[^<]*file changed$/),
        metadata: { result: { callId: "t2" } },
      },
      { role: "user", content: "Well done" },
      { role: "assistant", content: "It is fixed.", tokenCount: 40, createdAt: at(8), metadata: { costUsd: 0.5 } },
      { role: "user", content: "More", createdAt: at(9) },
      { role: "system", metadata: { kind: "notice", costUsd: 0.25 } },
    ],
    ending: {
      title: "Fix 'a.ts' now",
      project: "api",
      model: "claude-opus-4-5",
      createdAt: at(0),
      metadata: {
        cwd: "/home/ada/code/api",
        usage: apart.usage,
        commits: [{ hash: "abc1234", branch: "main", subject: "Fix" }],
      },
    },
  });
  const costs = session?.messages.map(({ metadata }) => Number(metadata?.costUsd ?? 0)) ?? [];
  expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(apart.cost);
  expect(session?.messages.filter(({ metadata }) => metadata?.tool).length).toBe(apart.calls);
  expect(session?.messages.filter(({ metadata }) => metadata?.result).length).toBe(apart.results);
  expect([counts.entries, counts.invalid, unhandled]).toEqual([talk.length + display.length, 0, []]);
});

test("calls by tags, their results, and answers to questions are told apart", async () => {
  const conversation = [
    { role: "user", content: [text("<task>\nGo\n</task>"), text(environment)] },
    {
      role: "assistant",
      content: [
        text(
          "<thinking>\nHm.\n</thinking>\n\nWriting.\n\n<write_to_file>\n<path>a.html</path>\n<content>\n<b></content></b>\n</content>\n</write_to_file>",
        ),
      ],
    },
    { role: "user", content: [text("[write_to_file for 'a.html'] Result:"), text("Saved."), text(environment)] },
    {
      role: "assistant",
      content: [text("<ask_followup_question><question>Which?</question></ask_followup_question>")],
    },
    { role: "user", content: [text("[ask_followup_question for 'Which?'] Result:\n<answer>\nBoth\n</answer>")] },
    {
      role: "assistant",
      content: "Use <read_file> as a tag.\n<execute_command>\n<command>ls</command>\n</execute_command>",
    },
    {
      role: "user",
      content: [
        text(
          "[execute_command for 'ls'] Result:\nThe tool execution failed with the following error:\n<error>\nx\n</error>",
        ),
      ],
    },
    { role: "assistant", content: "<attempt_completion>\n<result>\nDone.\n</result>\n</attempt_completion>" },
    {
      role: "user",
      content: [text("[attempt_completion] Result:\nThe user has provided feedback.\n<feedback>\nThanks\n</feedback>")],
    },
    { role: "assistant", content: "Nothing" },
    { role: "user", content: [text("[ERROR] You did not use a tool in your previous response!")] },
  ];
  const { sessions } = await parseAll(cline, await makeHome(task({ "api_conversation_history.json": conversation })));
  expect(
    sessions[0]?.messages.map(({ role, content, metadata }) => [
      role,
      metadata?.tool ?? metadata?.result ?? metadata?.kind ?? content,
    ]),
  ).toEqual([
    ["user", "Go"],
    ["assistant", "thinking"],
    ["assistant", "Writing."],
    [
      "assistant",
      expect.objectContaining({ name: "write_to_file", input: { path: "a.html", content: "<b></content></b>" } }),
    ],
    ["tool", { callId: "1.0.1" }],
    ["assistant", expect.objectContaining({ name: "ask_followup_question", input: { question: "Which?" } })],
    ["tool", { callId: "3.0.0" }],
    ["assistant", "Use <read_file> as a tag."],
    ["assistant", expect.objectContaining({ name: "execute_command", input: { command: "ls" } })],
    ["tool", { callId: "5.0.1", isError: true }],
    ["assistant", "Done."],
    ["user", "Thanks"],
    ["assistant", "Nothing"],
    ["user", "notice"],
  ]);
  expect(sessions[0]?.messages[6]?.content).toBe("Both");
  expect(sessions[0]?.ending).toMatchObject({ project: "api", createdAt: at(0) });
});

test("a session of the newer form names its own tokens; a sub-agent's names its parent", async () => {
  const answer = {
    role: "assistant",
    content: [{ type: "tool_use", id: "c", name: "run_commands", input: { commands: ["ls"] } }],
    ts: start + 2000,
    modelInfo: { id: "claude-opus-4.8" },
    metrics: { inputTokens: 110, outputTokens: 5, cacheReadTokens: 100, cacheWriteTokens: 0, cost: 0.5 },
  };
  const result = {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "c", content: [{ query: "ls", result: "a" }] }],
  };
  const file = {
    version: 1,
    sessionId: "s1",
    messages: [{ role: "user", content: [text("Hi"), { type: "file", path: "/a.ts" }] }, answer, result],
  };
  const folder = ".cline/data/sessions/s1";
  const host = await makeHome({
    ...task(
      { "s1.messages.json": file, "s1.json": { cwd: "/code/web", started_at: at(0), metadata: { title: "A look" } } },
      folder,
    ),
    ...task({ "agent-2.messages.json": file }, folder),
  });
  const { sessions } = await parseAll(cline, host);
  expect(sessions).toMatchObject([
    { sourceId: "s1__agent-2", ending: { metadata: { parent: "s1" } } },
    {
      sourceId: "s1",
      messages: [
        { role: "user", content: "Hi", metadata: { attachments: [{ name: "/a.ts" }] } },
        {
          metadata: { tool: { name: "run_commands" }, costUsd: 0.5, usage: { inputTokens: 10, cacheReadTokens: 100 } },
        },
        { role: "tool", content: '[{"query":"ls","result":"a"}]' },
      ],
      ending: { title: "A look", project: "web", model: "claude-opus-4.8", createdAt: at(0) },
    },
  ]);
});

test("only the task whose files changed gets another stamp; drift and cut-off files fail nothing", async () => {
  const host = await makeHome({
    ...task({ "api_conversation_history.json": talk }),
    ...task(
      { "api_conversation_history.json": [{ role: "user", content: [{ type: "dream" }] }, 5, { role: "ghost" }] },
      `${storage}/tasks/b`,
    ),
  });
  const before = await discoverAll(cline, host);
  await writeBelow(
    host.home,
    `${storage}/tasks/${id}/api_conversation_history.json`,
    `${JSON.stringify(talk.slice(0, 2)).slice(0, -9)}`,
  );
  const after = await discoverAll(cline, host);
  const changed = after.filter(({ stamp }, index) => stamp !== before[index]?.stamp);
  expect(changed.map(({ path }) => path)).toEqual([join(host.home, storage, "tasks", id)]);
  const { sessions, unhandled, invalid } = await parseAll(cline, host);
  expect(sessions.map(({ sourceId, messages }) => [sourceId, messages.length])).toEqual([[id, 3]]);
  expect(unhandled).toEqual(["content.dream", "role.ghost"]);
  expect(invalid).toHaveLength(2);
});

test("a search depends on the folders of tasks, and on none below them", async () => {
  const host = await makeHome({
    ...task({ "api_conversation_history.json": talk }),
    [`${storage}/tasks/${id}/checkpoints/.git/objects/x`]: "",
  });
  const search = new Search();
  for await (const _input of findDuring(search, cline.discover(host)));
  const tasks = join(host.home, storage, "tasks");
  expect([...search.listed]).toEqual(expect.arrayContaining([tasks, join(tasks, id)]));
  expect([...search.listed, ...search.walked].filter((folder) => folder.includes("checkpoints"))).toEqual([]);
});

test("a task whose answers name no model has the one that the list of tasks names", async () => {
  const nameless = talk.map((message) => ({ ...message, modelInfo: undefined }));
  const files = task({ "api_conversation_history.json": nameless, "ui_messages.json": display });
  const history = [{ id, ts: start, task: "Fix", modelId: "gpt-5.5" }];
  const host = await makeHome({ ...files, [`${storage}/state/taskHistory.json`]: JSON.stringify(history) });
  const { sessions } = await parseAll(cline, host);
  expect(sessions[0]?.ending.model).toBe("gpt-5.5");
});
