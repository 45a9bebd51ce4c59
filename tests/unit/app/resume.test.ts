import { expect, test } from "vitest";

import { listResumeWays, resumeCommand } from "../../../app/(app)/traces/[id]/facts/resume";

test.each([
  ["claude-code", "abc-1", undefined, "claude --resume abc-1"],
  ["claude-code", "abc-1", "/home/ada/api", "cd /home/ada/api && claude --resume abc-1"],
  ["codex", "x", "/home/ada/it's $(here)", "cd '/home/ada/it'\\''s $(here)' && codex resume x"],
  ["pi", "0199-a", "/home/ada/api", "cd /home/ada/api && pi --session 0199-a"],
  ["cline", "1793527200000", undefined, "cline -T 1793527200000"],
  ["cline", "root__child", undefined, undefined],
  ["continue", "0199-a", undefined, "cn --fork 0199-a"],
  ["claude-code", "x", "/a\nrm -rf /", "claude --resume x"],
  ["claude-code", "x", "/a\u202eb", "claude --resume x"],
  ["claude-code", "x", "C:\\api", "claude --resume x"],
  ["claude-code", "x; rm -rf /", "/a", undefined],
  ["constructor", "x", "/a", undefined],
])("%s's session %j in %j is continued by %j", (source, id, cwd, command) => {
  expect(resumeCommand(source, id, cwd)).toBe(command);
});

const trace = { id: "0199-trace", source: "claude-code", sourceId: "6f1c", metadata: { cwd: "/api" } };
const commands = (...given: Parameters<typeof listResumeWays>) =>
  listResumeWays(...given).map(({ command }) => command);

test("a session offers its exact copy first, then its own command, a rebuilt session and another agent", () => {
  const others = [
    "cd /api && claude --resume 6f1c",
    "spoor resume 6f1c --clean",
    "spoor resume 6f1c --told codex --run",
  ];
  expect(commands(trace, true)).toEqual(["spoor resume 6f1c", ...others]);
  expect(commands(trace, false)).toEqual(others);
});

test("what an agent or id does not allow is not offered", () => {
  expect(commands({ ...trace, source: "goose" }, true)).toEqual(["spoor resume 6f1c --told claude --run"]);
  expect(commands({ ...trace, source: "opencode" }, true)[0]).toBe("spoor resume 6f1c");
  expect(commands({ ...trace, sourceId: "a; rm -rf /" }, true)[0]).toBe("spoor resume 0199-trace");
  expect(commands({ ...trace, metadata: { kind: "prompts-only" } }, true)).toEqual([]);
});
