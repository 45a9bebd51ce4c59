import { expect, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { id, Lines, text } from "./claude-lines.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const path = `.claude/projects/-home-ada-code-api/${id}.jsonl`;

test("effort and permissions are told where they change, cut answers are aborted, and turns' times add up", async () => {
  const make = new Lines();
  const lines = [
    make.said("One", { permissionMode: "plan" }),
    make.answered(text("Yes"), { id: "m1" }, { effort: "medium" }),
    make.system("turn_duration", { durationMs: 1200 }),
    { type: "permission-mode", permissionMode: "acceptEdits", sessionId: id },
    make.said("Two", { permissionMode: "acceptEdits" }),
    make.answered(text("No"), { id: "m2", stop_reason: null }, { effort: "medium", isAbortedMidStream: true }),
    make.answered(text("Go"), { id: "m3", stop_reason: "end_turn" }, { effort: "high" }),
    make.system("turn_duration", { durationMs: 300 }),
  ];
  const { sessions, unhandled } = await parseAll(claudeCode, await makeHome({ [path]: toLines(...lines) }));
  const told = sessions[0]?.messages.map(({ content, metadata: { effort, permissionMode, stopReason } = {} }) => [
    content,
    effort ?? permissionMode,
    stopReason,
  ]);
  expect(told).toEqual([
    ["One", "plan", undefined],
    ["Yes", "medium", undefined],
    ["Two", "acceptEdits", undefined],
    ["No", undefined, "aborted"],
    ["Go", "high", "end_turn"],
  ]);
  expect(sessions[0]?.ending.metadata).toMatchObject({
    effort: "high",
    permissionMode: "acceptEdits",
    workedMs: 1500,
  });
  expect(unhandled).toEqual([]);
});
