import { expect, test } from "vitest";
import { gemini } from "../../cli/adapters/gemini/adapter.ts";
import { qwen } from "../../cli/adapters/qwen/adapter.ts";
import { kinds, makeHome, parseAll, toLines } from "./home.ts";

const timestamp = "2026-11-01T10:00:00.000Z";
const picture = { inlineData: { mimeType: "image/png", data: "AAAA" } };
const response = (id: string, more: object = {}) => ({
  functionResponse: { id, name: "read_file", response: { output: `One item of ${id}.` }, ...more },
});

test("a picture that a tool returned is in its result, and no message of the person's", async () => {
  const toolCalls = [
    { id: "c1", name: "read_file", args: { file_path: "a.png" }, status: "success", result: [response("c1"), picture] },
  ];
  const sent = [response("c1"), picture, response("c2"), picture, response("c3", { parts: [picture] })];
  const lines = toLines(
    { sessionId: "s", projectHash: "web", startTime: timestamp, kind: "main" },
    { id: "u1", timestamp, type: "user", content: [{ text: "Look at mine" }, picture] },
    { id: "a1", timestamp, type: "gemini", content: "I look.", toolCalls },
    { id: "u2", timestamp, type: "user", content: sent },
  );
  const { sessions } = await parseAll(gemini, await makeHome({ ".gemini/tmp/web/chats/session-x.jsonl": lines }));
  expect(kinds(sessions[0]?.messages)).toEqual([
    ["user", "", "Look at mine\n[image: image/png, 1 KiB]"],
    ["assistant", "", "I look."],
    ["assistant", "call", "read_file\na.png"],
    ["tool", "result", "One item of c1.\n[image: image/png, 1 KiB]"],
    ["tool", "result", "One item of c2.\n[image: image/png, 1 KiB]"],
    ["tool", "result", "One item of c3.\n[image: image/png, 1 KiB]"],
  ]);
});

test("what the program tells a sub-agent that stopped too early is a notice", async () => {
  const text = "You have stopped calling tools without finishing. You have one final chance to complete the task soon.";
  const lines = toLines(
    { sessionId: "s", projectHash: "web", startTime: timestamp, kind: "subagent" },
    { id: "u1", timestamp, type: "user", content: [{ text: "You have one task. Do it." }] },
    { id: "u2", timestamp, type: "user", content: [{ text }] },
  );
  const { sessions } = await parseAll(gemini, await makeHome({ ".gemini/tmp/web/chats/p/s.jsonl": lines }));
  expect(kinds(sessions[0]?.messages)).toEqual([
    ["user", "", "You have one task. Do it."],
    ["user", "notice", text],
  ]);
});

test("a picture that a tool of Qwen Code returned is in its result", async () => {
  const parts = [response("c1"), picture, response("c2", { parts: [picture] })];
  const lines = toLines({ uuid: "u", sessionId: "s", timestamp, type: "tool_result", message: { parts } });
  const { sessions } = await parseAll(qwen, await makeHome({ ".qwen/projects/-web/chats/s.jsonl": lines }));
  expect(kinds(sessions[0]?.messages)).toEqual([
    ["tool", "result", "One item of c1.\n[image: image/png, 1 KiB]"],
    ["tool", "result", "One item of c2.\n[image: image/png, 1 KiB]"],
  ]);
});
