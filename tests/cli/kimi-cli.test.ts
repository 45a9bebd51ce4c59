import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { kimiCli } from "../../cli/adapters/kimi-cli/adapter.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const root = "/code/api";
const folder = `.kimi/sessions/${createHash("md5").update(root).digest("hex")}/s1`;
const at = "2026-11-01T10:00:00.250Z";
const said = (type: string, payload: object) => ({ timestamp: Date.parse(at) / 1000, message: { type, payload } });
const usage = { input_other: 10, output: 5, input_cache_read: 100, input_cache_creation: 2 };

const lines = toLines(
  { type: "metadata", protocol_version: "1.3" },
  said("TurnBegin", {
    user_input: [
      { type: "text", text: "Commit" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ],
  }),
  said("StepBegin", { n: 1 }),
  said("ContentPart", { type: "think", think: "Commit it." }),
  said("ToolCall", { id: "c1", function: { name: "Shell", arguments: '{"command":"git commit -m Mend"}' } }),
  said("StatusUpdate", { token_usage: usage, message_id: "m1" }),
  said("ToolResult", { tool_call_id: "c1", return_value: { is_error: false, output: "[main 1234abc] Mend" } }),
  said("StatusUpdate", { context_usage: 0.5 }),
  said("StepBegin", { n: 2 }),
  said("ToolCall", { id: "c2", function: { name: "Agent", arguments: "{}" } }),
  said("SubagentEvent", { parent_tool_call_id: "c2", agent_id: "a7", event: { type: "StepBegin", payload: {} } }),
  said("ToolResult", { tool_call_id: "c2", return_value: { is_error: true, output: "", message: "It failed." } }),
  said("SteerInput", { user_input: "Go on" }),
  said("Notification", { title: "Done", body: "The task ended." }),
  said("StepInterrupted", {}),
  said("Sunrise", {}),
);

test("a session has its turns, thoughts, calls with results, tokens, folder, title and commits", async () => {
  const { sessions, unhandled, counts } = await parseAll(
    kimiCli,
    await makeHome({
      [`${folder}/wire.jsonl`]: lines,
      [`${folder}/state.json`]: JSON.stringify({ custom_title: "Mending" }),
      [`${folder}/subagents/a7/wire.jsonl`]: toLines(said("TurnBegin", { user_input: "Look" })),
      ".kimi/kimi.json": JSON.stringify({ work_dirs: [{ path: "/other" }, { path: root }] }),
    }),
  );
  const [agent, main] = sessions;
  expect(main).toMatchObject({
    source: "kimi-cli",
    sourceId: "s1",
    messages: [
      { role: "user", content: "Commit", createdAt: at },
      { role: "user", content: "[image: image/png, 1 KiB]", metadata: { attachments: [{ type: "image/png" }] } },
      {
        content: "Commit it.",
        tokenCount: 5,
        metadata: { kind: "thinking", requestId: "m1", usage: { inputTokens: 10, cacheReadTokens: 100 } },
      },
      { metadata: { tool: { name: "Shell", callId: "c1" } } },
      { role: "tool", content: "[main 1234abc] Mend", metadata: { result: { callId: "c1" } } },
      { metadata: { tool: { name: "Agent" } } },
      { content: "It failed.", metadata: { result: { callId: "c2", isError: true, session: "s1/a7" } } },
      { role: "user", content: "Go on" },
      { content: "Done\nThe task ended.", metadata: { kind: "notice" } },
      { content: "The step was interrupted.", metadata: { kind: "notice" } },
    ],
    ending: {
      title: "Mending",
      project: "api",
      metadata: { cwd: root, usage: { outputTokens: 5 }, commits: [{ hash: "1234abc", position: 4 }] },
    },
  });
  expect(agent).toMatchObject({ sourceId: "s1/a7", ending: { metadata: { parent: "s1", cwd: root } } });
  expect([unhandled, counts.entries]).toEqual([["message.Sunrise"], 17]);
});
