import { mkdir, readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { resume } from "../../cli/commands/resume.ts";
import type { Context } from "../../cli/context.ts";
import { readConversation } from "../../cli/resume/archived.ts";
import { startCopies } from "./copies.ts";
import { parseAll, toLines, told } from "./home.ts";
import { runInside } from "./inside.ts";

const id = "6f1c0000-0000-4000-8000-000000000001";
const trace = "0199bbbb-0000-7000-8000-000000000009";

type Line = {
  type: string;
  uuid: string;
  parentUuid: string | null;
  sessionId: string;
  cwd: string;
  version: string;
  forkedFrom?: { sessionId: string };
  message: { role: string; content: string | Record<string, unknown>[] };
};

async function world(source: string, messages: object[], metadata: object = {}) {
  const server = await startCopies();
  server.traces.push({
    id: trace,
    line: { sourceId: id, source, model: "claude-sonnet-4-5", title: "Retry", metadata, messages },
  });
  const host = await server.makeHome();
  host.cwd = join(await realpath(host.home), "work");
  host.env.PATH = "/nowhere";
  await mkdir(host.cwd);
  const clean = async (values: Context["values"] = {}, words = [id]) => {
    const { code, output, message } = await runInside(resume, host, {
      words,
      values: { json: true, clean: true, ...values },
    });
    return { code, message, ...(output ? JSON.parse(output) : {}) };
  };
  return { server, host, clean };
}

async function readMade(home: string, files: { path: string }[]): Promise<Line[]> {
  const text = await readFile(join(home, files[0]?.path ?? ""), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const call = (callId: string, name: string, input: object, more: object = {}) => ({
  role: "assistant",
  content: name,
  metadata: { tool: { name, callId, input, content: "call" }, ...more },
});
const result = (callId: string, content: string, more: object = {}) => ({
  role: "tool",
  content,
  metadata: { result: { callId, ...more } },
});
const usage = { outputTokens: 5 };

const conversation = [
  { role: "user", content: "Look at it.", createdAt: "2026-11-01T10:00:00.000Z" },
  { role: "system", content: "A notice.", metadata: { kind: "notice" } },
  { role: "assistant", content: "I think.", metadata: { kind: "thinking", usage, requestId: "r1" } },
  { role: "assistant", content: "Three at once." },
  call("t1", "Bash", { command: "ls" }),
  result("t1", "a.txt"),
  call("t2", "Read", { file_path: "/a.txt" }),
  result("t2", "No such file", { isError: true }),
  { role: "assistant", content: "One more.", metadata: { usage, requestId: "r2" } },
  call("t3", "Bash", { command: "echo [redacted:github:1f0c22ab]" }),
  { role: "user", content: "Stop." },
  { role: "assistant", content: "Done.", metadata: { usage, requestId: "r3", pictures: [{ sha256: "x" }] } },
];

test("a Claude Code session is rebuilt from the archive as a fork, with parallel calls in one line, and says what it lacks", async () => {
  const { host, clean } = await world(
    "claude-code",
    conversation.map((one, position) => ({ position, ...one })),
    {
      agentVersion: "2.1.300",
    },
  );
  const { code, files, missing, command, notes } = await clean();
  expect(code).toBe(0);
  const lines = (await readMade(join(host.home, ".claude"), files)).filter(({ type }) => type !== "summary");
  expect(lines.map(({ message }) => message.role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
    "user",
    "assistant",
  ]);
  expect(lines.map(({ message }) => message.content)).toEqual([
    "Look at it.",
    [
      { type: "text", text: "Three at once." },
      { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } },
      { type: "tool_use", id: "t2", name: "Read", input: { file_path: "/a.txt" } },
    ],
    [
      { type: "tool_result", tool_use_id: "t1", content: "a.txt" },
      { type: "tool_result", tool_use_id: "t2", content: "No such file", is_error: true },
    ],
    [
      { type: "text", text: "One more." },
      { type: "tool_use", id: "t3", name: "Bash", input: { command: "echo [redacted:github:1f0c22ab]" } },
    ],
    [
      {
        type: "tool_result",
        tool_use_id: "t3",
        content: expect.stringContaining("not in the archive"),
        is_error: true,
      },
    ],
    "Stop.",
    [{ type: "text", text: "Done." }],
  ]);
  const own = command[2];
  expect(lines.map(({ parentUuid }) => parentUuid)).toEqual([null, ...lines.slice(0, -1).map(({ uuid }) => uuid)]);
  for (const line of lines)
    expect(line).toMatchObject({ sessionId: own, cwd: host.cwd, forkedFrom: { sessionId: id } });
  expect(own).not.toBe(id);
  expect(notes.join()).toContain(own);
  expect(missing).toEqual([
    "the agent's notices (1)",
    "thoughts (1)",
    "masked secrets (1)",
    "pictures (1)",
    "calls' results (1)",
  ]);
});

test("Spoor reads a rebuilt session as a fork that has used no tokens", async () => {
  for (const [source, adapter] of [
    ["claude-code", claudeCode],
    ["codex-cli", codex],
  ] as const) {
    const { host, clean } = await world(source, conversation);
    expect((await clean()).code).toBe(0);
    const { sessions, unhandled, counts } = await parseAll(adapter, host);
    expect([source, unhandled, counts.invalid]).toEqual([source, [], 0]);
    const [session] = sessions;
    expect(session?.ending.metadata).toMatchObject({ forkedFrom: id });
    expect(JSON.stringify(session)).not.toMatch(/"usage"|Tokens"|tokenCount/);
    expect(told(session?.messages, ["tool", "result"])?.filter(([role]) => role === "user")).toHaveLength(2);
  }
});

test("a rebuilt session begins at the last compaction, with its summary", async () => {
  const { host, clean } = await world("claude-code", [
    { role: "user", content: "Long ago." },
    { role: "system", content: "Compacted.", metadata: { kind: "notice", subtype: "compact_boundary" } },
    { role: "user", content: "This is the summary.", metadata: { kind: "notice" } },
    { role: "assistant", content: "On it." },
  ]);
  const lines = await readMade(join(host.home, ".claude"), (await clean()).files);
  expect(lines.flatMap(({ message }) => (message ? [message.content] : []))).toEqual([
    "This is the summary.",
    [{ type: "text", text: "On it." }],
  ]);
});

test("answers without numbers, odd ids and what has no user stay a conversation that the API takes", () => {
  const { items } = readConversation({
    ...{ source: "x", sourceId: "s", model: undefined, title: undefined, project: undefined, createdAt: undefined },
    metadata: {},
    messages: [
      call("a.b", "Bash", {}),
      result("a.b", "1"),
      result("a.b", "twice"),
      call("a:b", "Bash", {}),
      result("a:b", "2"),
    ].map((message) => ({ createdAt: undefined, ...message })),
  });
  expect(
    items.map((item) =>
      item.type === "call" || item.type === "result" ? [item.type, item.id, item.answer] : item.type,
    ),
  ).toEqual(["user", ["call", "a_b", 0], ["result", "a_b", 0], ["call", "a_b-2", 1], ["result", "a_b-2", 1]]);
});

test("a Codex session is rebuilt with the kinds of calls that it had", async () => {
  const { host, clean } = await world("codex-cli", [
    { role: "user", content: "Go." },
    call("c1", "exec", { input: "text(1)" }),
    result("c1", "1"),
    call("c2", "collaboration.spawn_agent", { message: "help" }),
    result("c2", "started"),
  ]);
  const { files, command } = await clean();
  expect(files[0].path).toMatch(
    new RegExp(`^sessions/\\d{4}/\\d\\d/\\d\\d/rollout-[\\dT-]{19}-${command[2]}\\.jsonl$`),
  );
  const lines = (await readMade(join(host.home, ".codex"), files)) as unknown as { type: string; payload: object }[];
  expect(lines[0]).toMatchObject({
    type: "session_meta",
    payload: { id: command[2], forked_from_id: id, cwd: host.cwd },
  });
  expect(lines.filter(({ type }) => type === "response_item").map(({ payload }) => payload)).toEqual([
    { type: "message", role: "user", content: [{ type: "input_text", text: "Go." }] },
    { type: "custom_tool_call", call_id: "c1", name: "exec", input: "text(1)" },
    { type: "custom_tool_call_output", call_id: "c1", output: "1" },
    {
      type: "function_call",
      call_id: "c2",
      name: "spawn_agent",
      namespace: "collaboration",
      arguments: '{"message":"help"}',
    },
    { type: "function_call_output", call_id: "c2", output: "started" },
  ]);
});

const answer = (uuid: string, parentUuid: string, content: object[]) => ({
  ...{ type: "assistant", uuid, parentUuid, sessionId: id, cwd: "/old" },
  message: { role: "assistant", id: "m", content, usage: { input_tokens: 1, output_tokens: 2 } },
});
const copied = toLines(
  { type: "user", uuid: "u1", parentUuid: null, sessionId: id, cwd: "/old", message: { role: "user", content: "Go." } },
  answer("a1", "u1", [{ type: "thinking", thinking: "Hm.", signature: "s" }]),
  answer("a2", "a1", [
    { type: "redacted_thinking", data: "x" },
    { type: "text", text: "Yes." },
  ]),
  answer("a3", "a2", [
    { type: "server_tool_use", id: "s1", name: "web_search", input: {} },
    {
      type: "web_search_tool_result",
      tool_use_id: "s1",
      content: [{ title: "T", url: "https://t", encrypted_content: "e" }],
    },
  ]),
  { type: "file-history-snapshot", messageId: "u1", snapshot: {} },
  { type: "api-request-blob", sessionId: id, message: { content: [{ type: "thinking", signature: "s" }] } },
);

test("from the exact copy only thoughts and what is encrypted go, and the lines behind stay linked", async () => {
  const { server, host, clean } = await world("claude-code", []);
  await server.add({ agent: "claude-code", sourceId: id }, { [`projects/-old/${id}.jsonl`]: copied });
  const { files, missing, command } = await clean();
  const lines = await readMade(join(host.home, ".claude"), files);
  expect(JSON.stringify(lines)).not.toMatch(/thinking|signature|encrypted|server_tool/);
  expect(lines.map(({ uuid, parentUuid, sessionId }) => [uuid, parentUuid, sessionId])).toEqual([
    ["u1", null, command[2]],
    ["a2", "u1", command[2]],
    ["a3", "a2", command[2]],
  ]);
  expect(lines[2]?.message.content).toEqual([{ type: "text", text: "T https://t" }]);
  expect(missing).toEqual(["thoughts (2)"]);
});

test("of a Codex copy the encrypted reasoning goes, also in what a compaction kept", async () => {
  const { server, host, clean } = await world("codex-cli", []);
  const reasoning = { type: "reasoning", summary: [], encrypted_content: "e" };
  const message = { type: "message", role: "user", content: [{ type: "input_text", text: "Go." }] };
  const rollout = toLines(
    {
      timestamp: "2026-11-01T10:00:00.000Z",
      type: "session_meta",
      payload: { id, cwd: "/old", cli_version: "0.171.0" },
    },
    { type: "response_item", payload: message },
    { type: "response_item", payload: reasoning },
    { type: "compacted", payload: { message: "", replacement_history: [message, reasoning] } },
  );
  await server.add(
    { agent: "codex-cli", sourceId: id },
    { [`sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`]: rollout },
  );
  const { files, command, missing } = await clean();
  const lines = (await readMade(join(host.home, ".codex"), files)) as unknown as { type: string; payload: object }[];
  expect(lines.map(({ type, payload }) => [type, payload])).toEqual([
    [
      "session_meta",
      expect.objectContaining({ id: command[2], forked_from_id: id, cwd: host.cwd, cli_version: "0.171.0" }),
    ],
    ["response_item", message],
    ["compacted", { message: "", replacement_history: [message] }],
  ]);
  expect(missing).toEqual(["thoughts (2)"]);
});

test("without the key, or without a login for copies, the archive is used; other agents' sessions are refused", async () => {
  const { server, host, clean } = await world("claude-code", conversation);
  await server.add({ agent: "claude-code", sourceId: id }, { [`projects/-old/${id}.jsonl`]: copied });
  server.denied.originals = true;
  expect((await clean()).notes.join()).toContain("rebuilt from the archive");
  expect((await clean({}, [trace])).code).toBe(0);
  expect((await clean({}, ["not", "there"])).message).toContain('no session "not there"');
  const other = await world("goose", conversation);
  expect((await other.clean()).message).toContain("--told");
  expect(await readdir(other.host.home)).not.toContain(".claude");
  expect(await readdir(join(host.home, ".claude/projects"))).toHaveLength(1);
});
