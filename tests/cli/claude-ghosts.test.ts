import { expect, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { id, otherId, said } from "./claude-lines.ts";
import { makeHome, parseAll, toLines, writeBelow } from "./home.ts";

const history = ".claude/history.jsonl";
const at = Date.parse("2026-09-01T10:00:00.000Z");
const prompt = (sessionId: string | undefined, display: string, seconds: number, more: object = {}) => ({
  ...{ display, pastedContents: {}, timestamp: at + seconds * 1000, project: "/home/ada/code/api", sessionId },
  ...more,
});

test("sessions whose files are gone have their prompts, and are marked", async () => {
  const pasted = { 1: { id: 1, type: "text", content: "line 1\n$& line 2" }, 2: { id: 2, type: "image" } };
  const host = await makeHome({
    [`.claude/projects/-home-ada-code-api/${otherId}.jsonl`]: toLines(said("Still here")),
    [history]: toLines(
      prompt(id, "Mend the timer", 0),
      prompt(otherId, "Still here", 1),
      prompt(undefined, "From a version without ids", 2),
      prompt(id, "See [Pasted text #1 +1 lines] and [Image #2]", 3, { pastedContents: pasted }),
      prompt(id, " ", 4),
    ),
  });
  const { sessions, counts, unhandled, lost } = await parseAll(claudeCode, host);
  const ghost = sessions.find(({ sourceId }) => sourceId === id);
  expect(sessions).toHaveLength(2);
  expect(ghost).toEqual({
    ...{ source: "claude-code", sourceId: id },
    messages: [
      { role: "user", content: "Mend the timer", createdAt: "2026-09-01T10:00:00.000Z" },
      { role: "user", content: "See line 1\n$& line 2 and [Image #2]", createdAt: "2026-09-01T10:00:03.000Z" },
    ],
    ending: {
      ...{ project: "api", createdAt: "2026-09-01T10:00:00.000Z" },
      metadata: { cwd: "/home/ada/code/api", kind: "prompts-only" },
    },
  });
  expect([counts.skipped, unhandled, lost]).toEqual([3, [], []]);
});

test("a session whose file turns up is no longer made of its prompts", async () => {
  const host = await makeHome({ [history]: toLines(prompt(id, "Mend the timer", 0)) });
  expect((await parseAll(claudeCode, host)).sessions).toHaveLength(1);
  await writeBelow(host.home, `.claude/projects/-home-ada-code-api/${id}.jsonl`, toLines(said("Mend the timer")));
  const { sessions } = await parseAll(claudeCode, host);
  expect(sessions.map(({ ending }) => ending.metadata?.kind)).toEqual([undefined]);
});

test("a prompt of this moment waits: its session's file is about to be written", async () => {
  const host = await makeHome({ [history]: toLines(prompt(id, "Hi", 0, { timestamp: Date.now() + 60_000 })) });
  expect((await parseAll(claudeCode, host)).sessions).toEqual([]);
});

test("a configured folder has a history of its own", async () => {
  const host = await makeHome({ "work/history.jsonl": toLines(prompt(id, "Hi", 0)) });
  const { sessions } = await parseAll(claudeCode, { ...host, env: { CLAUDE_CONFIG_DIR: `${host.home}/work` } });
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual([id]);
});
