import { expect, test } from "vitest";
import { resume } from "../../cli/commands/resume.ts";
import { maxToldChars, tellSession } from "../../cli/resume/told.ts";
import { startCopies } from "./copies.ts";
import { runInside } from "./inside.ts";

const tool = (name: string, input: object, callId = "c") => ({
  ...{ role: "assistant", content: `${name}\n${JSON.stringify(input)}`, createdAt: "2026-11-01T10:00:00.000Z" },
  metadata: { tool: { name, callId, input, content: "call" } },
});
const say = (role: string, content: string, metadata: object = {}) => ({
  role,
  content,
  createdAt: undefined,
  metadata: { ...metadata },
});
const result = (content: string, more: object = {}, callId = "c") =>
  say("tool", content, { result: { callId, ...more } });

const about = {
  ...{ source: "claude-code", sourceId: "s1", model: "m", title: "Retry", project: "api", createdAt: undefined },
  metadata: { cwd: "/home/ada/api", branch: "main" },
};

test("a summary has the first prompt, open tasks, changed files and the last turns", () => {
  const messages = [
    say("user", "Mend the timer.\nAll of it."),
    say("assistant", "Secret thought", { kind: "thinking" }),
    tool("TodoWrite", { todos: [{ content: "Old", status: "pending" }] }),
    tool("TodoWrite", {
      todos: [
        { content: "Write a test", status: "in_progress" },
        { content: "Read", status: "completed" },
      ],
    }),
    tool("TaskCreate", { subject: "Deploy it" }, "t1"),
    result("Task #7 created", {}, "t1"),
    tool("TaskCreate", { subject: "Done thing" }, "t2"),
    result("Task #8 created", {}, "t2"),
    tool("TaskUpdate", { taskId: "8", status: "completed" }),
    tool("Bash", { command: "npm test" }),
    result("1 failed\x1b[31m", { exitCode: 1 }),
    say("assistant", "One test fails."),
  ];
  const text = tellSession({ ...about, messages }, [{ path: "src/retry.ts", added: 3, removed: 1 }], "Claude Code");
  expect(text).toContain("# Continue a session of Claude Code");
  expect(text).toContain("## First prompt\n\n> Mend the timer.\n> All of it.");
  expect(text).toContain("## Open tasks\n\n- [ ] Write a test (in progress)\n- [ ] Deploy it\n\n");
  expect(text).toContain("- src/retry.ts (+3 −1)");
  expect(text).toMatch(
    /- called Bash .*npm test.*\n\n- it failed: 1 failed\[31m\n\n\*\*Agent:\*\*\n> One test fails\.\n$/,
  );
  expect(text).not.toContain("Secret thought");
  expect(text).not.toContain("\x1b");
});

test("no title, branch or path of a summary reaches the terminal as a command", () => {
  const metadata = { branch: "\x1b]0;b\x07", cwd: "/\x9b2J" };
  const text = tellSession({ ...about, title: "t\x1b[2J", metadata, messages: [] }, [{ path: "\x1b[8m.ts" }], "Codex");
  expect(text).toContain("Title: t[2J");
  expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
});

test("a summary of any session has at most about 6,000 tokens", () => {
  const long = "line\n".repeat(20_000);
  const todos = Array.from({ length: 500 }, (_, at) => ({
    content: `${at} ${"word ".repeat(100)}`,
    status: "pending",
  }));
  const messages = [
    say("user", long),
    tool("update_plan", { plan: todos }),
    ...Array.from({ length: 300 }, () => say("assistant", long)),
  ];
  const files = Array.from({ length: 500 }, (_, at) => ({
    path: `src/${"deep/".repeat(40)}${at}.ts`,
    added: 1,
    removed: 1,
  }));
  const text = tellSession({ ...about, title: long, messages }, files, "Codex CLI");
  expect(text.length).toBeLessThan(maxToldChars);
  expect(text).toMatch(/- and \d+ more\n\n## Files changed/);
  expect(text).toMatch(/> \[… \d+ characters …\]/);
});

test("--told prints the summary for any agent's session, or hands it to the agent as its first prompt", async () => {
  const server = await startCopies();
  const id = "0199bbbb-0000-7000-8000-000000000009";
  server.traces.push({ id, line: { ...about, source: "goose", messages: [say("user", "Mend the timer.")] } });
  const host = await server.makeHome();
  const printed = await runInside(resume, host, { words: [id], values: { told: "codex" } });
  expect([printed.code, printed.output]).toEqual([0, expect.stringContaining("# Continue a session of goose")]);
  const json = await runInside(resume, host, { words: [id], values: { told: "codex", json: true } });
  expect(JSON.parse(json.output)).toMatchObject({
    mode: "told",
    command: ["codex", expect.stringContaining("Mend the timer.")],
  });
  const wrong = await runInside(resume, host, { words: [id], values: { told: "emacs" } });
  expect([wrong.code, wrong.message]).toEqual([2, expect.stringContaining("claude, codex, gemini, opencode")]);
});
