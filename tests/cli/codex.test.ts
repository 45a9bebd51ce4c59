import { basename, join } from "node:path";
import zlib from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { discoverAll, makeHome, parseAll, toLines } from "./home.ts";
import { codexLines } from "./sessions.ts";

const id = "0199aaaa-2222-7333-8444-555555555555";
const parent = "0199bbbb-2222-7333-8444-555555555555";
const path = `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`;
const parse = async (...records: unknown[]) => parseAll(codex, await makeHome({ [path]: toLines(...records) }));

const at = (seconds: number) => new Date(Date.parse("2026-11-01T10:00:00Z") + seconds * 1000).toISOString();
const meta = (more: object = {}, seconds = 0) => ({
  timestamp: at(seconds),
  type: "session_meta",
  payload: { id, timestamp: at(seconds), cwd: "/home/ada/code/web", cli_version: "0.60.0", ...more },
});
const item = (payload: object, seconds = 10) => ({ timestamp: at(seconds), type: "response_item", payload });
const said = (role: string, text: string, seconds = 10) =>
  item({ type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] }, seconds);
const tokens = (output_tokens: number, seconds = 11, more: object = {}) => ({
  timestamp: at(seconds),
  type: "event_msg",
  payload: { type: "token_count", info: { total_token_usage: { input_tokens: 0, output_tokens, ...more } } },
});

test("a session has its turns, tool calls with results, folder, branch and version", async () => {
  const { sessions, counts, unhandled } = await parse(...codexLines(id, 1));
  expect(sessions[0]).toMatchObject({
    source: "codex-cli",
    sourceId: id,
    messages: [
      { role: "user", content: "Question 0", createdAt: "2026-11-01T10:00:10.000Z" },
      {
        role: "assistant",
        content: "exec_command\nls 0",
        metadata: { tool: { name: "exec_command", callId: "c0", input: { cmd: "ls 0" }, content: "call" } },
      },
      { role: "tool", content: "file 0", metadata: { result: { callId: "c0" } } },
      { role: "assistant", content: "Answer 0" },
    ],
    ending: { model: "gpt-5.2", project: "web", createdAt: "2026-11-01T10:00:00.000Z" },
  });
  expect(sessions[0]?.ending.metadata).toEqual({
    cwd: "/home/ada/code/web",
    branch: "main",
    agentVersion: "0.60.0",
    usage: { inputTokens: 40, outputTokens: 20, cacheReadTokens: 60 },
  });
  expect([counts, unhandled]).toEqual([{ entries: 7, skipped: 3, invalid: 0 }, []]);
});

test("cumulative token totals become what each answer added, also after they restart from zero", async () => {
  const { sessions } = await parse(
    meta(),
    said("assistant", "One"),
    tokens(10),
    tokens(10),
    said("assistant", "Two"),
    tokens(25),
    said("assistant", "Three, after a new start"),
    tokens(4),
  );
  expect(sessions[0]?.messages.map(({ tokenCount }) => tokenCount)).toEqual([10, 15, 4]);
  expect(sessions[0]?.ending.metadata).toMatchObject({ usage: { outputTokens: 29 } });
});

test("a compacted line does not repeat its history", async () => {
  const history = [said("user", "Hi").payload, said("assistant", "Hello").payload];
  const { sessions } = await parse(meta(), said("user", "Hi"), said("assistant", "Hello"), {
    timestamp: at(20),
    type: "compacted",
    payload: { message: "They greeted.", replacement_history: history },
  });
  expect(sessions[0]?.messages.map(({ content, metadata }) => [content, metadata?.kind])).toEqual([
    ["Hi", undefined],
    ["Hello", undefined],
    ["They greeted.", "notice"],
  ]);
});

test("a fork keeps its parent's history without counting its tokens", async () => {
  const { sessions } = await parse(
    meta({ forked_from_id: parent }),
    meta({ id: parent }, 0),
    said("user", "Before", 0),
    said("assistant", "Then", 0),
    tokens(100, 0),
    said("user", "Now", 30),
    said("assistant", "New", 31),
    tokens(130, 32),
  );
  expect(sessions).toHaveLength(1);
  expect(
    sessions[0]?.messages.map(({ content, tokenCount, metadata }) => [content, tokenCount, metadata?.replayed]),
  ).toEqual([
    ["Before", undefined, true],
    ["Then", undefined, true],
    ["Now", undefined, undefined],
    ["New", 30, undefined],
  ]);
  expect(sessions[0]).toMatchObject({
    sourceId: id,
    ending: { metadata: { forkedFrom: parent, usage: { outputTokens: 30 } } },
  });
});

test("every kind of call and output is parsed, and injected user messages are notices", async () => {
  const { sessions, unhandled } = await parse(
    meta({ source: { subagent: { thread_spawn: { parent_thread_id: parent } } } }),
    said("user", "<environment_context>\n  <cwd>/x</cwd>"),
    said("developer", "Be brief."),
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "Planning" }], encrypted_content: "x" }),
    item({ type: "reasoning", summary: [], encrypted_content: "x" }),
    item({ type: "custom_tool_call", name: "apply_patch", call_id: "p", input: "*** Begin Patch" }),
    item({
      type: "custom_tool_call_output",
      call_id: "p",
      output: '{"output":"Done","metadata":{"exit_code":1,"duration_seconds":0.25}}',
    }),
    item({ type: "local_shell_call", call_id: "s", action: { command: ["ls"] } }),
    item({ type: "function_call_output", call_id: "s", output: { content: "no", success: false } }),
    item({ type: "function_call", name: "find", namespace: "mcp__docs", call_id: "f", arguments: "not json" }),
    item({ type: "web_search_call", id: "w", action: { query: "timers" } }),
  );
  expect(sessions[0]?.ending.metadata).toMatchObject({ parent });
  expect(sessions[0]?.messages.map(({ content, metadata }) => [content, metadata])).toEqual([
    [expect.stringContaining("environment_context"), { kind: "notice" }],
    ["Be brief.", { kind: "notice" }],
    ["Planning", { kind: "thinking" }],
    [
      "apply_patch\n*** Begin Patch",
      { tool: { name: "apply_patch", callId: "p", input: { input: "*** Begin Patch" }, content: "call" } },
    ],
    ["Done", { result: { callId: "p", exitCode: 1 }, durationMs: 250 }],
    ["local_shell\nls", { tool: { name: "local_shell", callId: "s", input: { command: ["ls"] }, content: "call" } }],
    ["no", { result: { callId: "s", isError: true } }],
    [
      "mcp__docs.find\nnot json",
      { tool: { name: "mcp__docs.find", callId: "f", input: { input: "not json" }, content: "call" } },
    ],
    ["web_search\ntimers", { tool: { name: "web_search", callId: "w", input: { query: "timers" }, content: "call" } }],
  ]);
  expect(unhandled).toEqual([]);
});

test("a file in the old format without envelopes is read", async () => {
  const { sessions, counts } = await parse(
    { id, timestamp: at(0), instructions: null, git: { branch: "trunk" } },
    { record_type: "state" },
    { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] },
    { role: "assistant", type: "message", content: [{ type: "output_text", text: "Hello" }] },
  );
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["Hi", "Hello"]);
  expect(sessions[0]).toMatchObject({ sourceId: id, ending: { createdAt: at(0), metadata: { branch: "trunk" } } });
  expect(counts).toEqual({ entries: 4, skipped: 2, invalid: 0 });
});

test("where no line names the folder, it is the one of the environment that the model was told of", async () => {
  const told = (words: string) => said("user", `<environment_context>\n${words}\n</environment_context>`);
  for (const words of ["Current working directory: /code/api\nApproval policy: never", "  <cwd>/code/api</cwd>"]) {
    const { sessions } = await parse({ id, timestamp: at(0) }, told(words).payload, said("user", "Hi").payload);
    expect(sessions[0]?.ending).toMatchObject({ project: "api", metadata: { cwd: "/code/api" } });
  }
  const { sessions } = await parse(meta(), told("<cwd>/code/api</cwd>"), said("user", "<cwd>/code/x</cwd>"));
  expect(sessions[0]?.ending.project).toBe("web");
});

test("a rollout that is in both folders while it is archived is read once", async () => {
  const lines = toLines(...codexLines(id, 1));
  const host = await makeHome({ [path]: lines, [`.codex/archived_sessions/${basename(path)}`]: lines });
  expect((await discoverAll(codex, host)).map((input) => input.path)).toEqual([join(host.home, path)]);
});

test("unknown types are counted, and the session continues", async () => {
  const { sessions, unhandled, counts } = await parse(
    meta(),
    { type: "dream", payload: {} },
    item({ type: "telepathy" }),
    { type: "event_msg", payload: { type: "sunrise" } },
    { nothing: true },
    said("user", "Hi"),
  );
  expect(sessions[0]?.messages).toHaveLength(1);
  expect(unhandled).toEqual(["dream", "response_item.telepathy", "event_msg.sunrise"]);
  expect(counts).toEqual({ entries: 6, skipped: 4, invalid: 1 });
});

test("CODEX_HOME changes the folder, archived sessions are found, and CRLF changes nothing", async () => {
  const host = await makeHome({
    [`own/archived_sessions/rollout-x-${id}.jsonl`]: toLines(...codexLines(id, 1)).replaceAll("\n", "\r\n"),
    "own/sessions/history.jsonl": toLines({ not: "a rollout" }),
  });
  const { sessions, counts } = await parseAll(codex, { ...host, env: { CODEX_HOME: `${host.home}/own` } });
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual([id]);
  expect(counts.entries).toBe(7);
});

test("a call's content is the texts of its input, limited in length, without split surrogate pairs", async () => {
  const { sessions } = await parse(
    meta(),
    item({
      type: "function_call",
      name: "edit",
      call_id: "e",
      arguments: JSON.stringify({
        path: "src/x.ts",
        edits: [{ new: `${"é".repeat(499)}😀` }, { new: "y".repeat(3000) }],
        line: 3,
      }),
    }),
  );
  expect(sessions[0]?.messages[0]?.content).toBe(`edit\nsrc/x.ts\n${"é".repeat(499)}\ufffd\n${"y".repeat(500)}`);
});

const packedPath = `.codex/archived_sessions/rollout-2026-10-01T10-00-00-${id}.jsonl.zst`;
const packed = () => zlib.zstdCompressSync(toLines(...codexLines(id, 1), said("user", "é".repeat(2_000_000))));

test("a compressed rollout is read like any other, also when larger than one chunk", async () => {
  const { sessions, counts } = await parseAll(codex, await makeHome({ [packedPath]: packed() }));
  expect(sessions[0]?.sourceId).toBe(id);
  expect(sessions[0]?.messages.at(-1)?.content).toHaveLength(2_000_000);
  expect(counts.entries).toBe(8);
});

test("a compressed rollout of several frames is read whole", async () => {
  const lines = toLines(...codexLines(id, 1), ...Array.from({ length: 50 }, (_, n) => said("user", `message ${n}`)));
  const pieces = lines.match(/.{1,200}/gs) ?? [];
  const frames = Buffer.concat(pieces.map((piece) => zlib.zstdCompressSync(piece)));
  const { sessions } = await parseAll(codex, await makeHome({ [packedPath]: frames }));
  const { sessions: plain } = await parseAll(codex, await makeHome({ [packedPath]: zlib.zstdCompressSync(lines) }));
  expect(sessions).toEqual(plain);
  expect(sessions[0]?.messages.at(-1)?.content).toBe("message 49");
});

test("a rollout that is being compressed is found once", async () => {
  const plain = packedPath.replace(/\.zst$/, "");
  const host = await makeHome({ [packedPath]: packed().subarray(0, 99), [plain]: toLines(...codexLines(id, 1)) });
  expect((await discoverAll(codex, host)).map(({ path }) => path)).toEqual([`${host.home}/${plain}`]);
});

test("a truncated compressed rollout is an error", async () => {
  const host = await makeHome({ [packedPath]: packed().subarray(0, 99) });
  await expect(parseAll(codex, host)).rejects.toThrow(/end of file/);
});

test("a compressed rollout that would be far larger than sessions are is told, and ends soon", async () => {
  const bomb = zlib.zstdCompressSync(
    Buffer.alloc(80 << 20, `${JSON.stringify({ type: "x", payload: "x".repeat(60_000) })}\n`),
  );
  const host = await makeHome({ [packedPath]: bomb });
  const [input] = await discoverAll(codex, host);
  expect(input?.bytes).toBeLessThan(64 << 10);
  await expect(parseAll(codex, host)).rejects.toThrow(/^it is compressed, and would be larger than \d+ MiB$/);
});

test("without zstd support, compressed rollouts are reported with the Node version to use, and a newer Node reads them", async () => {
  const host = await makeHome({ [packedPath]: packed() });
  const [known] = await discoverAll(codex, host);
  const usual = Object.getOwnPropertyDescriptor(zlib, "createZstdDecompress") ?? {};
  onTestFinished(() => void Object.defineProperty(zlib, "createZstdDecompress", usual));
  Object.defineProperty(zlib, "createZstdDecompress", { ...usual, value: undefined });
  const { sessions, lost } = await parseAll(codex, host);
  expect((await discoverAll(codex, host))[0]?.stamp).not.toBe(known?.stamp);
  expect([sessions, lost]).toEqual([[], [expect.stringContaining("need Node 22.15 or later")]]);
});
