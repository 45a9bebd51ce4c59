import { expect, test } from "vitest";
import { kimi } from "../../cli/adapters/kimi/adapter.ts";
import { makeHome, parseAll, toLines, told } from "./home.ts";

const folder = ".kimi-code/sessions/wd_web_1/session_1";
const start = Date.parse("2026-11-01T10:00:00.000Z");
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();
const appended = (message: object, seconds = 0) => ({
  type: "context.append_message",
  message,
  time: start + seconds * 1000,
});
const asked = (text: string, origin: object = { kind: "user" }, seconds = 0) =>
  appended({ role: "user", content: [{ type: "text", text }], toolCalls: [], origin }, seconds);
const step = (text: string, output: number, seconds: number) =>
  [
    { type: "content.part", part: { type: "text", text } },
    { type: "step.end", usage: { inputOther: 10, output, inputCacheRead: 0, inputCacheCreation: 0 } },
  ].map((event) => ({ type: "context.append_loop_event", event, time: start + seconds * 1000 }));

test("a session that was taken over from Kimi CLI has its calls and results, and its folder from the index", async () => {
  const image = { type: "image_url", imageUrl: { url: `data:image/png;base64,${"A".repeat(4096)}` } };
  const called = { type: "function", id: "c1", function: { name: "Shell", arguments: '{"command":"ls"}' } };
  const home = await makeHome({
    ".kimi-code/session_index.jsonl": toLines(
      { sessionId: "session_1", sessionDir: "x", workDir: "/home/ada/web" },
      { sessionId: "session_2", deleted: true },
    ),
    [`${folder}/agents/main/wire.jsonl`]: toLines(
      { type: "metadata", protocol_version: "1.0", created_at: start },
      appended({ role: "user", content: [{ type: "text", text: "What is in it?" }, image], toolCalls: [] }),
      appended({ role: "assistant", content: [{ type: "think", think: "ls" }], toolCalls: [called] }),
      appended({ role: "tool", content: [{ type: "text", text: "a.ts" }], toolCalls: [], toolCallId: "c1" }),
      appended({ role: "assistant", content: [], toolCalls: [{ id: "c2", name: "Read", arguments: null }] }),
      appended({ role: "ghost", content: [] }),
    ),
    [`${folder}/state.json`]: JSON.stringify({ title: "Imported", custom: { imported_from_kimi_cli: true } }),
  });
  const { sessions, unhandled, counts } = await parseAll(kimi, home);
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "What is in it?", undefined],
    ["user", "[image: image/png, 4 KiB]", undefined],
    ["assistant", "ls", "thinking"],
    ["assistant", "Shell\nls", undefined],
    ["tool", "a.ts", { callId: "c1" }],
    ["assistant", "Read", undefined],
  ]);
  expect(sessions[0]?.messages[1]?.metadata?.attachments).toEqual([{ type: "image/png" }]);
  expect(sessions[0]?.ending).toMatchObject({ title: "Imported", project: "web", metadata: { cwd: "/home/ada/web" } });
  expect([unhandled, counts]).toEqual([["role.ghost"], { entries: 6, skipped: 2, invalid: 0 }]);
});

test("commands, cleared and taken back turns are told; the user's own shell commands are the user's", async () => {
  const skill = { kind: "skill_activation", skillName: "review", skillArgs: "the diff", trigger: "user-slash" };
  const home = await makeHome({
    [`${folder}/agents/main/wire.jsonl`]: toLines(
      { type: "config.update", modelAlias: "kimi-k2", time: start },
      asked("<skill-loaded>Review.</skill-loaded>", skill),
      asked("<skill-loaded>Plan.</skill-loaded>", { ...skill, trigger: "model-tool" }),
      asked("<bash-input>\nls\n</bash-input>", { kind: "shell_command", phase: "input" }),
      ...step("Done.", 5, 1),
      { type: "context.undo", count: 2, time: start },
      { type: "context.clear", time: start },
      { type: "context.apply_compaction", summary: { role: "user", content: [{ type: "text", text: "They met." }] } },
      { type: "goal.create", goalId: "g", objective: "win", time: start },
      { type: "tools.update_store", time: start },
    ),
  });
  const { sessions, unhandled } = await parseAll(kimi, home);
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "/review the diff", "command"],
    ["user", "<skill-loaded>Review.</skill-loaded>", "notice"],
    ["user", "<skill-loaded>Plan.</skill-loaded>", "notice"],
    ["user", "<bash-input>\nls\n</bash-input>", undefined],
    ["assistant", "Done.", undefined],
    ["system", "The last 2 turns were taken back.", "notice"],
    ["system", "The conversation so far was cleared.", "notice"],
    ["system", "They met.", "notice"],
  ]);
  expect([sessions[0]?.ending.model, unhandled]).toEqual(["kimi-k2", []]);
});

test("a fork's copied lines are marked and counted in their own session, also those of its sub-agents", async () => {
  const copied = [{ type: "metadata", created_at: start }, asked("List"), ...step("One.", 7, 1)];
  const forked = { type: "forked", time: start + 60_000 };
  const usage = { type: "usage.record", usageScope: "session", usage: { output: 100 }, time: start };
  const state = {
    title: "Fork: A list",
    forkedFrom: "session_0",
    createdAt: at(60),
    cwd: "/home/ada/web",
    agents: { "agent-1": { parentAgentId: "agent-0" } },
  };
  const fork = {
    [`${folder}/agents/main/wire.jsonl`]: toLines(
      ...copied,
      usage,
      forked,
      asked("More", undefined, 70),
      ...step("Two.", 3, 71),
    ),
    [`${folder}/agents/agent-1/wire.jsonl`]: toLines(...copied, forked),
    [`${folder}/state.json`]: JSON.stringify(state),
  };
  const original = folder.replace(/[^/]+\/session_1$/, "wd_other/session_0");
  const both = await makeHome({ ...fork, [`${original}/agents/main/wire.jsonl`]: toLines(...copied, usage) });
  const alone = (await parseAll(kimi, await makeHome(fork))).sessions.find(({ sourceId }) => sourceId === "session_1");
  expect(alone?.messages.some(({ metadata }) => metadata?.replayed)).toBe(false);
  expect(alone?.ending.metadata).toMatchObject({ usage: { outputTokens: 3 + 7 + 100 } });
  const { sessions } = await parseAll(kimi, both);
  const [agent, main] = sessions.filter(({ sourceId }) => sourceId.startsWith("session_1"));
  expect(main?.messages.map(({ content, metadata }) => [content, metadata?.replayed])).toEqual([
    ["List", true],
    ["One.", true],
    ["More", undefined],
    ["Two.", undefined],
  ]);
  expect(main?.ending).toEqual({
    title: "Fork: A list",
    project: "web",
    createdAt: at(60),
    metadata: { cwd: "/home/ada/web", forkedFrom: "session_0", usage: { inputTokens: 10, outputTokens: 3 } },
  });
  expect(agent?.messages.map(({ metadata }) => metadata?.replayed)).toEqual([true, true]);
  expect(agent?.ending.metadata).toEqual({ cwd: "/home/ada/web", parent: "session_1/agent-0" });
});
