import { expect, test } from "vitest";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const id = "0199aaaa-2222-7333-8444-555555555555";
const agent = "0199cccc-2222-7333-8444-555555555555";
const path = `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`;
const parse = async (...records: unknown[]) => parseAll(codex, await makeHome({ [path]: toLines(...records) }));

let second = 0;
const line = (type: string, payload: object) => ({
  timestamp: new Date(Date.parse("2026-11-01T10:00:00Z") + second++ * 1000).toISOString(),
  type,
  payload,
});
const meta = (more: object = {}) => line("session_meta", { id, cwd: "/home/ada/code/web", ...more });
const item = (payload: object) => line("response_item", payload);
const event = (payload: object) => line("event_msg", payload);
const said = (role: string, text: string) =>
  item({ type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] });
const usage = (input_tokens: number, cached_input_tokens: number, output_tokens: number, more: object = {}) => ({
  input_tokens,
  cached_input_tokens,
  output_tokens,
  ...more,
});
const total = (now: object, last: object) =>
  event({ type: "token_count", info: { total_token_usage: now, last_token_usage: last } });

const shown = (parsed: Awaited<ReturnType<typeof parse>>) =>
  parsed.sessions[0]?.messages.map(({ role, content, metadata }) => [role, content, metadata?.kind]);

test("a request's own record counts it once, with its id, tier and what it wrote into the cache", async () => {
  const one = usage(1000, 600, 40, { cache_write_input_tokens: 100, reasoning_output_tokens: 10 });
  const { sessions, unhandled } = await parse(
    meta(),
    line("turn_context", { model: "gpt-5.5", service_tier: "priority" }),
    said("assistant", "One"),
    line("token_usage_record", { response_id: "resp_1", thread_id: id, usage: one }),
    total(one, one),
    // A compaction's request is recorded, and left out of the total.
    line("token_usage_record", { response_id: "resp_2", thread_id: id, usage: usage(500, 0, 5) }),
    line("token_usage_record", { response_id: "resp_9", thread_id: agent, usage: usage(9000, 0, 900) }),
    said("assistant", "Two"),
    line("token_usage_record", { response_id: "resp_3", usage: usage(2000, 1000, 60) }),
    total(usage(3000, 1600, 100), usage(2000, 1000, 60)),
    // Two requests without records follow.
    said("assistant", "Three"),
    total(usage(3500, 1700, 130), usage(500, 100, 30)),
    total(usage(3500, 1700, 130), usage(500, 100, 30)),
    line("token_usage_record", { response_id: "resp_4" }),
  );
  expect(sessions[0]?.messages.map(({ metadata }) => metadata)).toMatchObject([
    {
      usage: { inputTokens: 300, outputTokens: 40, cacheReadTokens: 600, cacheWriteTokens: 100, reasoningTokens: 10 },
      requestId: "resp_1",
      serviceTier: "priority",
    },
    { usage: { inputTokens: 1000, outputTokens: 60, cacheReadTokens: 1000 }, requestId: "resp_3" },
    { usage: { inputTokens: 400, outputTokens: 30, cacheReadTokens: 100 } },
  ]);
  expect(sessions[0]?.ending.metadata).toMatchObject({
    usage: { inputTokens: 2200, outputTokens: 135, cacheReadTokens: 1700, cacheWriteTokens: 100, reasoningTokens: 10 },
  });
  expect(unhandled).toEqual([]);
});

test("a total that begins anew counts whole, also where its first request is larger than all before", async () => {
  const { sessions } = await parse(
    meta(),
    said("assistant", "One"),
    total(usage(100, 0, 10), usage(100, 0, 10)),
    said("assistant", "Two, after a new start"),
    total(usage(900, 0, 20), usage(900, 0, 20)),
  );
  expect(sessions[0]?.ending.metadata).toMatchObject({ usage: { inputTokens: 1000, outputTokens: 30 } });
});

test("events that repeat an item, before or after it, are not shown; those that none repeats are", async () => {
  const parsed = await parse(
    meta(),
    said("user", "Why?"),
    event({ type: "user_message", message: "Why?" }),
    event({ type: "agent_reasoning", text: "**Looking**" }),
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "**Looking**" }], encrypted_content: "x" }),
    event({ type: "agent_reasoning_raw_content", text: "The raw thought." }),
    event({ type: "agent_message", message: "Because." }),
    said("assistant", "Because."),
    event({ type: "task_complete", last_agent_message: "Because." }),
    event({ type: "user_message", message: "And now?" }),
    event({ type: "agent_message", message: "Now it works." }),
    event({ type: "task_complete" }),
  );
  expect(shown(parsed)).toEqual([
    ["user", "Why?", undefined],
    ["assistant", "**Looking**", "thinking"],
    ["assistant", "The raw thought.", "thinking"],
    ["assistant", "Because.", undefined],
    ["user", "And now?", undefined],
    ["assistant", "Now it works.", undefined],
  ]);
  expect(parsed.unhandled).toEqual([]);
});

test("reviews, aborts, rollbacks, errors, hooks and compactions are notices", async () => {
  const parsed = await parse(
    meta(),
    event({ type: "entered_review_mode", user_facing_hint: "changes against main" }),
    said("user", "<user_action>\n<action>review</action>\n</user_action>"),
    event({ type: "exited_review_mode", review_output: { overall_explanation: "Fine." } }),
    said("user", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>"),
    event({ type: "turn_aborted", turn_id: "t", reason: "interrupted" }),
    event({ type: "turn_aborted", turn_id: "u", reason: "replaced" }),
    event({ type: "thread_rolled_back", num_turns: 1 }),
    event({ type: "error", message: "The stream broke." }),
    event({
      type: "hook_completed",
      run: { status: "completed", entries: [{ kind: "feedback", text: "Lint failed." }] },
    }),
    line("compacted", { message: "", replacement_history: [] }),
    event({ type: "context_compacted" }),
    line("world_state", {}),
  );
  expect(shown(parsed)).toEqual([
    ["system", "Review: changes against main", "notice"],
    ["user", expect.stringContaining("<action>review"), "notice"],
    ["user", expect.stringContaining("<turn_aborted>"), "notice"],
    ["system", "The turn was aborted: replaced.", "notice"],
    ["system", "The last turn was taken back.", "notice"],
    ["system", "The stream broke.", "notice"],
    ["system", "Lint failed.", "notice"],
    ["system", "The conversation so far was compacted.", "notice"],
  ]);
  expect(parsed.unhandled).toEqual([]);
});

test("what the program put before the user's words is apart from them, and images are named", async () => {
  const { sessions } = await parse(
    meta(),
    item({
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "# AGENTS.md instructions for /x\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>" },
        { type: "input_text", text: "<environment_context>\n<cwd>/x</cwd>\n</environment_context>\nLook at this:" },
        { type: "input_text", text: "<image name=[Image #1]>" },
        { type: "input_image", image_url: "data:image/png;base64,AAAA" },
        { type: "input_text", text: "</image>" },
      ],
    }),
    event({ type: "user_message", message: "Look at this:", local_images: ["/x/shot.png"] }),
    said("user", "# Context from my IDE setup:\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nMend it\n"),
    said("user", "It says <environment_context> in the log."),
  );
  expect(sessions[0]?.messages).toMatchObject([
    { content: expect.stringMatching(/^# AGENTS.*<\/INSTRUCTIONS>$/s), metadata: { kind: "notice" } },
    {
      content: expect.stringMatching(/^<environment_context>.*<\/environment_context>$/s),
      metadata: { kind: "notice" },
    },
    {
      role: "user",
      content: "Look at this:\n[image: image/png, 1 KiB]",
      metadata: { attachments: [{ type: "image/png", name: "/x/shot.png" }] },
    },
    { content: expect.stringContaining("Open tabs"), metadata: { kind: "notice" } },
    { role: "user", content: "Mend it\n" },
    { role: "user", content: "It says <environment_context> in the log." },
  ]);
});

test("sub-agents: the call that started one names its session, and what they tell each other is kept", async () => {
  const spawn = (call_id: string) =>
    item({
      type: "function_call",
      name: "spawn_agent",
      namespace: "collaboration",
      call_id,
      arguments: '{"message":"Look"}',
    });
  const output = (call_id: string, text: string) => item({ type: "function_call_output", call_id, output: text });
  const { sessions, unhandled } = await parse(
    meta({ agent_path: "/root/helper" }),
    item({
      type: "agent_message",
      author: "/root",
      recipient: "/root/helper",
      content: [{ type: "input_text", text: "Look it up." }],
    }),
    item({
      type: "agent_message",
      author: "/root",
      recipient: "/root/helper",
      content: [{ type: "encrypted_content", encrypted_content: "gAAAAABx" }],
    }),
    spawn("c1"),
    event({ type: "sub_agent_activity", event_id: "c1", agent_thread_id: agent, kind: "started" }),
    output("c1", '{"task_name":"/root/helper/one"}'),
    spawn("c2"),
    output("c2", "started"),
    event({
      type: "item_completed",
      item: { type: "SubAgentActivity", id: "c2", agent_thread_id: agent, kind: "started" },
    }),
    spawn("c3"),
    output("c3", `{"agent_id":"${agent}","nickname":"Euler"}`),
    item({ type: "agent_message", author: "/root/helper/one", recipient: "/root", content: "Found it." }),
  );
  const [task, ...rest] = sessions[0]?.messages ?? [];
  expect(task).toMatchObject({ role: "user", content: "Look it up." });
  expect(task?.metadata).toBeUndefined();
  expect(rest[0]?.metadata).toMatchObject({ kind: "subagent", tool: { name: "collaboration.spawn_agent" } });
  const results = rest.flatMap(({ metadata }) => (metadata?.result ? [metadata.result] : []));
  expect(results).toMatchObject([{ session: agent }, { session: agent }, { session: agent }]);
  expect(rest.at(-1)).toMatchObject({ content: "/root/helper/one: Found it.", metadata: { kind: "notice" } });
  expect(unhandled).toEqual([]);
});

test("where a session began in Git, and what its shell calls and scripts committed", async () => {
  const script = 'await tools.exec_command({cmd: "cd api && git commit -qam \\"Mend\\""});';
  const { sessions } = await parse(
    meta({
      git: {
        commit_hash: "ABCDEF0123456789abcdef0123456789abcdef01",
        branch: "main",
        repository_url: "https://ada:secret@git.example.org/ada/web.git",
      },
    }),
    item({ type: "local_shell_call", call_id: "s", action: { command: ["bash", "-lc", "git commit -m One"] } }),
    item({
      type: "function_call_output",
      call_id: "s",
      output: '{"output":"[main 1234abc] One\\n","metadata":{"exit_code":0}}',
    }),
    item({ type: "custom_tool_call", name: "exec", call_id: "e", input: script }),
    item({
      type: "custom_tool_call_output",
      call_id: "e",
      output: 'Script completed\nOutput:\n{"chunk_id":"a","exit_code":0,"output":"[fix/timer 9876fed] Mend\\n"}',
    }),
  );
  expect(sessions[0]?.ending.metadata).toMatchObject({
    repository: "https://git.example.org/ada/web.git",
    branch: "main",
    commits: [
      { hash: "abcdef0123456789abcdef0123456789abcdef01", branch: "main" },
      { hash: "1234abc", branch: "main", subject: "One", position: 1 },
      { hash: "9876fed", branch: "fix/timer", subject: "Mend", position: 3 },
    ],
  });
});

test("lines of other types and shapes never end a session, and are counted", async () => {
  const { sessions, unhandled, counts } = await parse(
    meta({ git: "main", source: 7, history_base: [], timestamp: 12 }),
    line("turn_context", { model: 5, cwd: null }),
    item({ type: "message", role: "user", content: 5 }),
    item({
      type: "message",
      role: "user",
      content: [{ type: "hologram" }, null, "x", { type: "input_text", text: 9 }],
    }),
    item({ type: "function_call" }),
    item({ type: "function_call_output", output: { content: { deep: true } } }),
    item({ type: 9 }),
    event({ type: "token_count", info: { total_token_usage: { input_tokens: -4, output_tokens: "9" } } }),
    event({ type: "token_count", info: null }),
    line("inter_agent_communication", { author: 1, content: null }),
    { timestamp: 5, type: "event_msg", payload: [] },
    said("user", "Hi"),
  );
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["tool", "", "Hi"]);
  expect(unhandled).toEqual(["content.hologram", "response_item.(none)"]);
  expect(counts).toEqual({ entries: 12, skipped: 8, invalid: 1 });
});
