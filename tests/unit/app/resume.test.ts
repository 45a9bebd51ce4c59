import { expect, test } from "vitest";
import { resumeCommand } from "../../../app/(app)/traces/[id]/facts/resume";

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
