import { expect, test } from "vitest";
import type { Adapter } from "../../cli/adapters/adapter.ts";
import { copilot } from "../../cli/adapters/copilot/adapter.ts";
import { droid } from "../../cli/adapters/droid/adapter.ts";
import { kimi } from "../../cli/adapters/kimi/adapter.ts";
import { pi } from "../../cli/adapters/pi/adapter.ts";
import { qwen } from "../../cli/adapters/qwen/adapter.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

// What agents record beside the conversation, and delete after some weeks.

const id = "0199aaaa-2222-7333-8444-555555555555";
const at = (seconds: number) => new Date(Date.parse("2026-11-01T10:00:00Z") + seconds * 1000).toISOString();

const parse = async (adapter: Adapter, path: string, ...lines: unknown[]) => {
  const parsed = await parseAll(adapter, await makeHome({ [path]: toLines(...lines) }));
  return { ...parsed, messages: parsed.sessions[0]?.messages ?? [], ending: parsed.sessions[0]?.ending };
};

const piPath = `.pi/agent/sessions/--code-api--/2026-11-01T10-00-00-000Z_${id}.jsonl`;
const piMessage = (seconds: number, key: string, message: object) => ({
  type: "message",
  id: key,
  timestamp: at(seconds),
  message,
});
const usage = { input: 12, output: 7, cacheRead: 100, cacheWrite: 3, cost: { total: 0.25 } };
const answer = (text: string) => ({
  role: "assistant",
  model: "m",
  usage,
  stopReason: "toolUse",
  responseId: "resp_1",
  content: [{ type: "text", text }],
});

test("Pi: costs, request ids, stop reasons, images and commits; what a fork copied is its own where its parent is nowhere", async () => {
  const commit = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "git commit -m Mend" } };
  const { messages, ending } = await parse(
    pi,
    piPath,
    {
      type: "session",
      version: 3,
      id,
      timestamp: at(60),
      cwd: "/code/api",
      parentSession: "/x/2026-10-01T00-00-00-000Z_parent.jsonl",
    },
    piMessage(1, "a", { role: "user", content: "Before" }),
    piMessage(2, "b", answer("Then")),
    piMessage(61, "c", {
      role: "user",
      content: [
        { type: "text", text: "Now" },
        { type: "image", mimeType: "image/png", data: "AAAA" },
      ],
    }),
    piMessage(62, "d", { ...answer("New"), content: [{ type: "text", text: "New" }, commit] }),
    piMessage(63, "e", {
      role: "toolResult",
      toolCallId: "c1",
      content: [{ type: "text", text: "[main 1234abc] Mend" }],
    }),
  );
  expect(messages.map(({ content, tokenCount, metadata }) => [content, tokenCount, metadata?.replayed])).toEqual([
    ["Before", undefined, undefined],
    ["Then", 7, undefined],
    ["Now", undefined, undefined],
    ["[image: image/png, 1 KiB]", undefined, undefined],
    ["New", 7, undefined],
    ["bash\ngit commit -m Mend", undefined, undefined],
    ["[main 1234abc] Mend", undefined, undefined],
  ]);
  expect(messages[3]?.metadata).toMatchObject({ attachments: [{ type: "image/png" }] });
  expect(messages[4]?.metadata).toMatchObject({ costUsd: 0.25, requestId: "resp_1", stopReason: "toolUse", uuid: "d" });
  expect(ending).toMatchObject({
    createdAt: at(1),
    metadata: { forkedFrom: "parent", usage: { outputTokens: 14 }, commits: [{ hash: "1234abc", position: 6 }] },
  });
});

test("Kimi: why a step stopped, its request, and the request of a compaction", async () => {
  const counted = (inputOther: number) => ({ inputOther, output: 5, inputCacheRead: 10, inputCacheCreation: 0 });
  const event = (fields: object) => ({ type: "context.append_loop_event", time: Date.parse(at(1)), event: fields });
  const { messages, ending, unhandled } = await parse(
    kimi,
    ".kimi-code/sessions/wd_api/session_1/agents/main/wire.jsonl",
    event({ type: "content.part", part: { type: "text", text: "Done." } }),
    event({ type: "step.end", uuid: "u1", messageId: "chatcmpl-1", finishReason: "end_turn", usage: counted(20) }),
    { type: "usage.record", usageScope: "turn", usage: counted(20) },
    { type: "usage.record", usageScope: "session", usage: counted(30) },
    { type: "usage.record", usageScope: "session" },
  );
  expect(messages[0]?.metadata).toMatchObject({ stopReason: "end_turn", requestId: "chatcmpl-1", uuid: "u1" });
  expect(ending?.metadata).toMatchObject({ usage: { inputTokens: 50, outputTokens: 10, cacheReadTokens: 20 } });
  expect(unhandled).toEqual([]);
});

test("Copilot: the remote, a title that changed, and the request of an answer", async () => {
  const start = (context: object) => ({ type: "session.start", timestamp: at(0), data: { sessionId: id, context } });
  const said = {
    type: "assistant.message",
    id: "e2",
    timestamp: at(1),
    data: { messageId: "m1", serviceRequestId: "s1", content: "Done.", outputTokens: 3 },
  };
  const read = (context: object) =>
    parse(copilot, `.copilot/session-state/${id}/events.jsonl`, start(context), said, {
      type: "session.title_changed",
      data: { title: "Mending" },
    });
  const { messages, ending } = await read({
    cwd: "/code/api",
    repository: "ada/api",
    repositoryHost: "git.example.org",
  });
  expect(messages[0]?.metadata).toMatchObject({ uuid: "m1", requestId: "s1" });
  expect(ending).toMatchObject({ title: "Mending", metadata: { repository: "https://git.example.org/ada/api" } });
  expect((await read({ repository: "ada/api", hostType: "github" })).ending?.metadata).toMatchObject({
    repository: "https://github.com/ada/api",
  });
  expect((await read({ repository: "ada/api", hostType: "cli" })).ending?.metadata).not.toHaveProperty("repository");
});

test("Droid: ids of messages, and images", async () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AAAA" } };
  const { messages } = await parse(droid, ".factory/sessions/-code/d1.jsonl", {
    type: "message",
    id: "u1",
    timestamp: at(0),
    message: { role: "user", content: [image, { type: "text", text: "Look" }] },
  });
  expect(messages).toMatchObject([
    { content: "[image: image/jpeg, 1 KiB]", metadata: { uuid: "u1", attachments: [{ type: "image/jpeg" }] } },
    { content: "Look" },
  ]);
});

const qwenPath = `.qwen/projects/-code-api/chats/${id}.jsonl`;
const record = (type: string, seconds: number, parts: object[], more: object = {}) => ({
  uuid: `${type}-${seconds}`,
  timestamp: at(seconds),
  type,
  message: { parts },
  ...more,
});

test("Qwen: what a branch copied is its own where its parent is nowhere; commands, files, and the user's own title", async () => {
  const forkedFrom = { sessionId: "parent", messageUuid: "x" };
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 7 };
  const system = (subtype: string, systemPayload: object) => record("system", 9, [], { subtype, systemPayload });
  const { messages, ending, unhandled } = await parse(
    qwen,
    qwenPath,
    record("user", 0, [{ text: "Before" }], { forkedFrom }),
    record("assistant", 1, [{ text: "Then" }], { forkedFrom, usageMetadata }),
    record("user", 2, [
      { text: "Now" },
      { inlineData: { mimeType: "image/png", data: "AAAA", displayName: "shot.png" } },
    ]),
    record("assistant", 3, [{ text: "New" }], { usageMetadata }),
    system("slash_command", { phase: "invocation", rawCommand: "/about" }),
    system("slash_command", {
      phase: "result",
      rawCommand: "/about",
      outputHistoryItems: [{ type: "info", text: "Version 1" }],
    }),
    system("slash_command", { phase: "invocation", rawCommand: "/review", sentToModel: true }),
    system("custom_title", { customTitle: "Mine" }),
    system("custom_title", { customTitle: "Generated", titleSource: "auto" }),
    system("parent_session", { parentSessionId: "starter" }),
    system("session_model", { modelId: "m" }),
    system("turn_result", {}),
    system("sunrise", {}),
  );
  expect(
    messages.map(({ content, tokenCount, metadata }) => [content, tokenCount, metadata?.replayed ?? metadata?.kind]),
  ).toEqual([
    ["Before", undefined, undefined],
    ["Then", 7, undefined],
    ["Now", undefined, undefined],
    ["[image: image/png, 1 KiB]", undefined, undefined],
    ["New", 7, undefined],
    ["/about", undefined, "command"],
    ["Version 1", undefined, "notice"],
  ]);
  expect(messages[3]?.metadata).toMatchObject({ attachments: [{ type: "image/png", name: "shot.png" }] });
  expect(ending).toMatchObject({
    title: "Mine",
    metadata: { forkedFrom: "parent", parent: "starter", usage: { outputTokens: 14 } },
  });
  expect(unhandled).toEqual(["system.sunrise"]);
});

test("Qwen: a background agent's transcript is a session, named by the result of the call that started it", async () => {
  const agents = `.qwen/projects/-code-api/subagents/${id}`;
  const host = await makeHome({
    [qwenPath]: toLines(
      record("assistant", 1, [{ functionCall: { id: "c1", name: "task", args: {} } }]),
      record("tool_result", 2, [{ functionResponse: { id: "c1", response: { output: "Started." } } }]),
    ),
    [`${agents}/agent-explore-7f3c.jsonl`]: toLines(
      record("user", 1, [{ text: "Explore." }], { cwd: "/code/api", isSidechain: true }),
    ),
    [`${agents}/agent-explore-7f3c.meta.json`]: JSON.stringify({
      description: "Explore it",
      toolUseId: "c1",
      model: "qwen3-coder",
    }),
  });
  const { sessions } = await parseAll(qwen, host);
  expect(sessions[0]?.messages[1]?.metadata).toMatchObject({ result: { callId: "c1", session: `${id}/explore-7f3c` } });
  expect(sessions[1]).toMatchObject({
    sourceId: `${id}/explore-7f3c`,
    ending: { title: "Explore it", model: "qwen3-coder", metadata: { parent: id, cwd: "/code/api" } },
  });
});
