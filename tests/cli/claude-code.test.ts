import { expect, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { answered, id, otherId as other, said, text } from "./claude-lines.ts";
import { makeHome, parseAll, toLines } from "./home.ts";
import { claudeLines } from "./sessions.ts";

const path = `.claude/projects/-home-ada-code-api/${id}.jsonl`;
const parse = async (...records: unknown[]) => parseAll(claudeCode, await makeHome({ [path]: toLines(...records) }));

test("a session has its turns, tool calls with results, folder, branch and version", async () => {
  const { sessions, counts, unhandled } = await parse(...claudeLines(id, 1));
  expect(sessions).toHaveLength(1);
  expect(sessions[0]).toMatchObject({
    source: "claude-code",
    sourceId: id,
    messages: [
      { role: "user", content: "Look at the retry timer. (0)", createdAt: "2026-11-01T10:00:00.000Z" },
      { role: "assistant", content: "Reading it, 0.", metadata: { model: "claude-opus-4-5" } },
      {
        role: "assistant",
        content: "Bash\nnpm test -- 0",
        metadata: { tool: { name: "Bash", callId: "toolu_0", input: { command: "npm test -- 0" }, content: "call" } },
      },
      { role: "tool", content: "1 tests passed", metadata: { result: { callId: "toolu_0" } } },
    ],
    ending: { model: "claude-opus-4-5", project: "api", createdAt: "2026-11-01T10:00:00.000Z" },
  });
  expect(sessions[0]?.ending.metadata).toEqual({
    cwd: "/home/ada/code/api",
    branch: "main",
    agentVersion: "2.1.0",
    usage: { inputTokens: 10, outputTokens: 40, cacheReadTokens: 100, cacheWriteTokens: 5 },
  });
  expect([counts, unhandled]).toEqual([{ entries: 4, skipped: 0, invalid: 0 }, []]);
});

test("usage repeated on several lines of a message is counted once, and increases are added", async () => {
  const usage = (output_tokens: number) => ({ usage: { input_tokens: 3, output_tokens } });
  const { sessions } = await parse(
    answered([{ type: "thinking", thinking: "Hm." }], usage(8)),
    answered(text("One"), usage(8)),
    answered(text("Two"), usage(50)),
    answered(text("Another"), { id: "msg_2", ...usage(7) }),
    answered(text("Two, once more"), usage(50)),
  );
  expect(sessions[0]?.messages.map(({ tokenCount }) => tokenCount)).toEqual([8, undefined, 42, 7, undefined]);
  expect(sessions[0]?.ending.metadata).toMatchObject({ usage: { inputTokens: 6, outputTokens: 57 } });
});

test("injected text is a notice, thinking is marked as such, images become placeholders", async () => {
  const { sessions } = await parse(
    said("Caveat: made by a command.", { isMeta: true }),
    said("This session is being continued.", { isCompactSummary: true }),
    {
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      timestamp: "2026-11-01T10:00:00Z",
    },
    answered([
      { type: "thinking", thinking: "A timer." },
      { type: "redacted_thinking", data: "xx" },
    ]),
    answered(text("API Error: overloaded"), { model: "<synthetic>" }, { isApiErrorMessage: true }),
    said([{ type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(4096) } }]),
  );
  expect(sessions[0]?.messages.map(({ role, content, metadata }) => [role, content, metadata?.kind])).toEqual([
    ["user", "Caveat: made by a command.", "notice"],
    ["user", "This session is being continued.", "notice"],
    ["system", "Conversation compacted", "notice"],
    ["assistant", "A timer.", "thinking"],
    ["system", "API Error: overloaded", "notice"],
    ["user", "[image: image/png, 3 KiB]", undefined],
  ]);
  expect(sessions[0]?.ending.model).toBe("claude-opus-4-5");
});

test("a tool result has its error, duration, patch, and its sub-agent's session", async () => {
  const hunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 2, lines: ["-a", "+b", "+c"] };
  const result = (more: object, toolUseResult: unknown) =>
    said([{ type: "tool_result", tool_use_id: "t", content: text("Done"), ...more }], { toolUseResult });
  const { sessions } = await parse(
    result({ is_error: true }, "Error: no"),
    result({}, { structuredPatch: [hunk], durationMs: 12 }),
    result({}, { agentId: "ab12", totalDurationMs: 9 }),
  );
  expect(sessions[0]?.messages.map(({ metadata }) => metadata)).toEqual([
    { result: { callId: "t", isError: true }, uuid: "u" },
    { result: { callId: "t", patch: "@@ -1,1 +1,2 @@\n-a\n+b\n+c" }, durationMs: 12, uuid: "u" },
    { result: { callId: "t", session: `${id}/agent-ab12` }, durationMs: 9, uuid: "u" },
  ]);
});

test("sub-agents are sessions of their own that name their parent, from their own files or the session's", async () => {
  const agent = { isSidechain: true, agentId: "ab12" };
  const host = await makeHome({
    [path]: toLines(said("Main"), said("Inner", { isSidechain: true }), answered(text("Back"), {}, { uuid: "b" })),
    ".claude/projects/-p/agent-ab12.jsonl": toLines(said("Old place", agent)),
    [`.claude/projects/-p/${other}/subagents/agent-cd34.jsonl`]: toLines(
      said("New place", { ...agent, sessionId: other }),
    ),
  });
  const { sessions, counts } = await parseAll(claudeCode, host);
  const told = sessions.map(({ sourceId, messages, ending }) => [sourceId, messages.length, ending.metadata?.parent]);
  expect(told.sort()).toEqual([
    [id, 2, undefined],
    [`${id}/agent-ab12`, 1, id],
    [`${id}/sidechain`, 1, id],
    [`${other}/agent-cd34`, 1, other],
  ]);
  expect(counts.entries).toBe(5);
});

test("the title is the user's, else the generated one, else the summary of a line of this file; never another session's", async () => {
  const summary = (leafUuid: string, summary: string) => ({ type: "summary", summary, leafUuid });
  const readTitle = async (...records: unknown[]) => (await parse(...records)).sessions[0]?.ending.title;
  expect(await readTitle(summary("elsewhere", "Not this one"), said("Hi"))).toBeUndefined();
  expect(await readTitle(summary("u", "Retry timers"), said("Hi"))).toBe("Retry timers");
  expect(await readTitle(said("Hi"), summary("u", "Retry timers"))).toBe("Retry timers");
  expect(await readTitle(said("Hi"), { type: "ai-title", aiTitle: "Made" }, summary("u", "x"))).toBe("Made");
  expect(
    await readTitle({ type: "custom-title", customTitle: "Given" }, { type: "ai-title", aiTitle: "Made" }, said("Hi")),
  ).toBe("Given");
});

test("a summary names a line before it, a line after it, or a line of another file", async () => {
  const summary = (leafUuid: string, summary: string) => ({ type: "summary", summary, leafUuid });
  const readTitle = async (...records: unknown[]) => (await parse(...records)).sessions[0]?.ending.title;
  const talk = [
    said("Hi", { uuid: "one" }),
    answered(text("Hello"), {}, { uuid: "two" }),
    said("Bye", { uuid: "three" }),
  ];
  expect(await readTitle(...talk, summary("one", "Greetings"))).toBe("Greetings");
  expect(await readTitle(...talk, summary("elsewhere", "No"), summary("one", "Greetings"), summary("gone", "No"))).toBe(
    "Greetings",
  );
  expect(await readTitle(...talk, { type: "agent-name", agentName: "greeter" }, summary("one", "x"))).toBe("greeter");
  const told = summary("three", "Told by the next session");
  const another = said("Another", { sessionId: other, uuid: "four" });
  const later = said("And its parentUuid", { sessionId: other, uuid: "five" });
  for (const lines of [
    [told, another],
    [another, later, told],
  ]) {
    const host = await makeHome({
      [path]: toLines(...talk),
      [`.claude/projects/-home-ada-code-api/${other}.jsonl`]: toLines(...lines),
    });
    const { sessions } = await parseAll(claudeCode, host);
    expect(sessions.map(({ sourceId, ending }) => [sourceId, ending.title])).toEqual([
      [id, "Told by the next session"],
      [other, undefined],
    ]);
  }
});

test("a name given by /rename is the title in versions that write no line for it", async () => {
  const content = "<local-command-stdout>Session renamed to: timers</local-command-stdout>";
  const renamed = { type: "system", subtype: "local_command", content, timestamp: "2026-11-01T10:00:02.000Z" };
  const { sessions } = await parse({ type: "ai-title", aiTitle: "Made" }, said("Hi"), renamed);
  expect(sessions[0]?.ending.title).toBe("timers");
});

test("unknown types and invalid lines are counted, and the session continues", async () => {
  const { sessions, counts, unhandled } = await parse(
    said("Hi"),
    { type: "file-history-snapshot" },
    { type: "hologram" },
    { type: "system", subtype: "moon_phase", content: "full" },
    answered([{ type: "smell", data: "rose" }]),
    { type: "user", message: "no object" },
    { type: "assistant", message: { content: 7 } },
    answered(text("Still here")),
  );
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["Hi", "Still here"]);
  expect(unhandled).toEqual(["hologram", "system.moon_phase", "content.smell"]);
  expect(counts).toEqual({ entries: 8, skipped: 4, invalid: 2 });
});

test("CRLF, a Windows folder and an incomplete last line are handled", async () => {
  const lines = claudeLines(id, 1, { cwd: "C:\\Users\\ada\\code\\api" });
  const file = toLines(...lines).replaceAll("\n", "\r\n");
  const { sessions, counts } = await parseAll(
    claudeCode,
    await makeHome({ [path]: `${file}{"type":"assistant","mess` }),
  );
  expect(sessions[0]?.messages).toHaveLength(4);
  expect(sessions[0]?.ending).toMatchObject({ project: "api", metadata: { cwd: "C:\\Users\\ada\\code\\api" } });
  expect(counts).toEqual({ entries: 4, skipped: 0, invalid: 0 });
});

test("CLAUDE_CONFIG_DIR changes the folders; a file without messages is no session", async () => {
  const host = await makeHome({ "own/projects/p/x.jsonl": toLines({ type: "summary", summary: "s", leafUuid: "l" }) });
  const env = { CLAUDE_CONFIG_DIR: `${host.home}/own` };
  const { sessions, counts } = await parseAll(claudeCode, { ...host, env });
  expect([sessions, counts]).toEqual([[], { entries: 1, skipped: 1, invalid: 0 }]);
});
