import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { getProjectName } from "../../cli/adapters/values.ts";
import { answered, id, otherId as other, said, text } from "./claude-lines.ts";
import { discoverAll, makeHome, parseAll, toLines } from "./home.ts";

const path = `.claude/projects/-home-ada-code-api/${id}.jsonl`;

const parse = async (...records: unknown[]) => parseAll(claudeCode, await makeHome({ [path]: toLines(...records) }));

test("a session was created at its earliest line; a worktree belongs to its repository; a moved session to its new folder", async () => {
  const cwd = "/home/ada/code/api/.claude/worktrees/timer";
  const { sessions } = await parse(
    said("Late", { timestamp: "2026-11-01T10:00:05.000Z", cwd }),
    said("Early", { timestamp: "2026-11-01T11:59:59.000+02:00" }),
  );
  expect(sessions[0]?.ending).toMatchObject({
    createdAt: "2026-11-01T11:59:59.000+02:00",
    project: "api",
    metadata: { cwd },
  });
  const moved = await parse(said("Hi", { cwd: "/old" }), { type: "relocated", relocatedCwd: "/home/ada/code/web" });
  expect(moved.sessions[0]?.ending).toMatchObject({ project: "web", metadata: { cwd: "/home/ada/code/web" } });
});

test("a session that goes on in another one names it, and a broken line of that kind is none", async () => {
  const line = { type: "continued-in", sessionId: id, continuedInSessionId: other };
  const { sessions, unhandled } = await parse(said("Hi"), line);
  expect(sessions[0]?.ending.metadata).toMatchObject({ continuedIn: other });
  expect(unhandled).toEqual([]);
  const broken = await parse(said("Hi"), { type: "continued-in", continuedInSessionId: 5 });
  expect(broken.sessions[0]?.ending.metadata).not.toHaveProperty("continuedIn");
});

test.each([
  ["/home/ada/code/api/.claude/worktrees/agent-a1b2", "api"],
  ["C:\\code\\api\\.claude\\worktrees\\agent-a1b2\\src", "api"],
  ["/home/ada/code/api/.worktrees/timer", "api"],
  ["/home/ada/.cursor/worktrees/api/x1y2", "api"],
  ["/home/ada/.cursor/worktrees/api", "api"],
  ["/home/ada/worktrees/api", "api"],
  ["/home/ada/code/agent-x", "agent-x"],
])("the project of %s is %s", (folder, name) => {
  expect(getProjectName(folder)).toBe(name);
});

test("a project's folder may be a link, and a session that several ways lead to is one", async () => {
  const host = await makeHome({
    [path]: toLines(said("Plain")),
    [`elsewhere/${other}.jsonl`]: toLines(said("Linked", { sessionId: other })),
  });
  const projects = join(host.home, ".claude/projects");
  await symlink(join(host.home, "elsewhere"), join(projects, "linked"));
  await symlink(join(host.home, "elsewhere"), join(projects, "linked-again"));
  await symlink(join(projects, "-home-ada-code-api"), join(projects, "alias"));
  await symlink(projects, join(projects, "loop"));
  await symlink(host.home, join(projects, "above"));
  await symlink(join(host.home, "nowhere"), join(projects, "broken"));
  await mkdir(join(host.home, ".config"), { recursive: true });
  await symlink(join(host.home, ".claude"), join(host.home, ".config/claude"));
  expect((await discoverAll(claudeCode, host)).map((input) => input.path)).toEqual([
    join(host.home, path),
    join(projects, "linked", `${other}.jsonl`),
  ]);
});

test("agents of a workflow, of another agent and of the program itself are told apart; a journal is no session", async () => {
  const folder = `.claude/projects/-p/${id}/subagents`;
  const agent = (more: object = {}) => ({ isSidechain: true, ...more });
  const usage = { usage: { output_tokens: 30 } };
  const own = (number: number) => `aaaaaaaa-0000-4000-8000-00000000000${number}`;
  const talk = [said("Main", { uuid: own(1) }), answered(text("Answer"), usage, { uuid: own(2) })];
  const host = await makeHome({
    [`.claude/projects/-p/${id}.jsonl`]: toLines(...talk),
    [`${folder}/agent-aa11.jsonl`]: toLines(said("Task", agent())),
    [`${folder}/agent-aa11.meta.json`]: JSON.stringify({ agentType: "general", description: "Find the timer" }),
    [`${folder}/agent-bb22.jsonl`]: toLines(said("Inner task", agent())),
    [`${folder}/agent-bb22.meta.json`]: JSON.stringify({ parentAgentId: "aa11" }),
    [`${folder}/workflows/wf_1/agent-cc33.jsonl`]: toLines(said("Step", agent())),
    [`${folder}/workflows/wf_1/journal.jsonl`]: toLines({ type: "launched" }),
    [`${folder}/agent-acompact-dd44.jsonl`]: toLines(
      ...talk.map((line) => ({ ...line, isSidechain: true })),
      answered(text("Summary"), { id: "msg_9", ...usage }, agent({ uuid: own(3) })),
    ),
  });
  const { sessions } = await parseAll(claudeCode, host);
  const told = sessions.map(({ sourceId, messages, ending }) => {
    const { parent, usage: total } = ending.metadata as { parent?: string; usage?: { outputTokens: number } };
    return [sourceId, ending.title, parent, messages.length, total?.outputTokens];
  });
  expect(told.sort()).toEqual([
    [id, undefined, undefined, 2, 30],
    [`${id}/agent-aa11`, "Find the timer", id, 1, undefined],
    [`${id}/agent-acompact-dd44`, undefined, id, 3, 30],
    [`${id}/agent-bb22`, undefined, `${id}/agent-aa11`, 1, undefined],
    [`${id}/agent-cc33`, undefined, id, 1, undefined],
  ]);
});

test("an output that was too large for the conversation is read from its file, and from nowhere else", async () => {
  const folder = `.claude/projects/-home-ada-code-api/${id}`;
  const note = (place: string) =>
    `<persisted-output>\nOutput too large (95.1KB). Full output saved to: ${place}\n\nPreview (first 2KB):\nline 1\n...\n</persisted-output>`;
  const places = [
    `/elsewhere/.claude/projects/-home-ada-code-api/${id}/tool-results/b1.txt`,
    `C:\\Users\\ada\\.claude\\projects\\api\\${id}\\tool-results\\long.txt`,
    `/x/${id}/tool-results/gone.txt`,
    `/x/${id}/tool-results/../../secret.txt`,
    `/x/${id}/tool-results/linked.txt`,
    "/etc/hostname",
  ];
  const results = [...places.map(note), `It says ${note(places[0] ?? "")}`].map((content, at) => ({
    ...said("", { uuid: `u${at}` }),
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: `t${at}`, content }] },
  }));
  const own = `.claude/projects/-home-ada-code-api/${id}.jsonl`;
  const agent = `${folder}/subagents/agent-a1.jsonl`;
  const host = await makeHome({
    [own]: toLines(said("Hi"), ...results),
    [agent]: toLines(
      { ...said("Look", { sessionId: id, agentId: "a1", isSidechain: true }) },
      { ...results[0], sessionId: id },
    ),
    [`${folder}/tool-results/b1.txt`]: "line 1\nline 2\n",
    [`${folder}/tool-results/long.txt`]: "ä".repeat(3 * 1024 * 1024),
    ".claude/projects/secret.txt": "secret",
  });
  await symlink("/etc/hostname", join(host.home, folder, "tool-results/linked.txt"));
  const { sessions } = await parseAll(claudeCode, host);
  const texts =
    sessions
      .find(({ sourceId }) => sourceId === id)
      ?.messages.slice(1)
      .map(({ content }) => content) ?? [];
  expect(texts[0]).toBe("line 1\nline 2\n");
  expect(texts[1]).toMatch(/^ä+\n\[Spoor: 2,097,152 bytes are missing here: it is too long\.\]$/);
  expect(texts.slice(2)).toEqual([...places.slice(2).map(note), `It says ${note(places[0] ?? "")}`]);
  expect(sessions.find(({ sourceId }) => sourceId !== id)?.messages.at(-1)?.content).toBe("line 1\nline 2\n");
});
