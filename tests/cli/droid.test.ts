import { expect, test } from "vitest";
import { droid } from "../../cli/adapters/droid/adapter.ts";
import { discoverAll, makeHome, parseAll, toLines, writeBelow } from "./home.ts";

const id = "0199ffff-2222-4333-8444-555555555555";
const path = `.factory/sessions/-home-ada-code-web/${id}.jsonl`;
const settings = `.factory/sessions/-home-ada-code-web/${id}.settings.json`;

const start = { type: "session_start", id, title: "Tidy up", cwd: "/home/ada/code/web", version: 2 };
const at = "2026-11-01T10:00:00.000Z";
const said = (role: string, content: unknown) => ({
  type: "message",
  id: "m",
  timestamp: at,
  message: { role, content },
});

test("a session has its turns, calls with results, title, and of its settings the model and the tokens", async () => {
  const home = await makeHome({
    [path]: toLines(
      start,
      said("user", [{ type: "text", text: "<system-reminder>\nBe brief.\n</system-reminder>\n\nTidy up" }]),
      said("assistant", [
        { type: "thinking", thinking: "ls first" },
        { type: "tool_use", id: "t1", name: "Execute", input: { command: "ls" } },
      ]),
      said("user", [
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "a.txt" }], is_error: true },
      ]),
      { type: "todo_state", todos: [] },
      { type: "compaction_state", summaryText: "They tidied." },
      { type: "sparkle" },
    ),
    [settings]: JSON.stringify({
      model: "claude-opus-4-5",
      tokenUsage: { inputTokens: 5, outputTokens: 6, cacheCreationTokens: 7, cacheReadTokens: 8, thinkingTokens: 2 },
    }),
  });
  const { sessions, counts, unhandled } = await parseAll(droid, home);
  expect(sessions).toMatchObject([
    {
      source: "droid",
      sourceId: id,
      messages: [
        { role: "user", metadata: { kind: "notice" } },
        { role: "user", content: "Tidy up", createdAt: at },
        { content: "ls first", metadata: { kind: "thinking" } },
        { content: "Execute\nls", metadata: { tool: { name: "Execute", callId: "t1" } } },
        { role: "tool", content: "a.txt", metadata: { result: { callId: "t1", isError: true } } },
        { content: "They tidied.", metadata: { kind: "notice" } },
      ],
      ending: {
        title: "Tidy up",
        model: "claude-opus-4-5",
        project: "web",
        metadata: {
          cwd: "/home/ada/code/web",
          usage: { inputTokens: 5, outputTokens: 6, cacheReadTokens: 8, cacheWriteTokens: 7, reasoningTokens: 2 },
        },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 7, skipped: 3, invalid: 0 }, ["sparkle"]]);
});

test("a session without settings is read, and once more when they come", async () => {
  const home = await makeHome({ [path]: toLines(start, said("user", "Hi")) });
  const [before] = await discoverAll(droid, home);
  expect((await parseAll(droid, home)).sessions[0]?.ending.model).toBeUndefined();
  await writeBelow(home.home, settings, '{"model":"gpt-5.2"}');
  const [after] = await discoverAll(droid, home);
  expect(after?.stamp).not.toBe(before?.stamp);
  expect((await parseAll(droid, home)).sessions[0]?.ending.model).toBe("gpt-5.2");
});

test("what `droid exec` streamed is read where it was kept, and its last words once", async () => {
  const line = (type: string, fields: object) => ({ type, session_id: "s", timestamp: at, ...fields });
  const usage = { input_tokens: 9, output_tokens: 4, cache_read_input_tokens: 2 };
  const home = await makeHome({
    [path]: toLines(
      line("system", { subtype: "init", cwd: "/home/ada/code/web", model: "gpt-5.2", tools: ["Execute"] }),
      line("message", { role: "user", text: "<system-reminder>Be brief.</system-reminder>\nList the files" }),
      line("reasoning", { text: "ls does it" }),
      line("message", { role: "assistant", text: "I list them." }),
      line("tool_call", { id: "c1", toolId: "Execute", toolName: "Execute", parameters: { command: "ls" } }),
      line("tool_result", { id: "c1", toolId: "Execute", value: { stdout: "a.txt\n", stderr: "warned", exitCode: 2 } }),
      line("tool_call", { toolCallId: "c2", toolName: "Read", parameters: { path: "b" } }),
      line("tool_result", { toolCallId: "c2", isError: true, value: "There is no b." }),
      line("message", { role: "assistant", text: "a.txt" }),
      line("completion", { finalText: "a.txt", usage }),
      line("completion", { finalText: "Only one file.", usage }),
      line("error", { source: "cli", message: "The key has expired." }),
    ),
  });
  const { sessions, counts, unhandled } = await parseAll(droid, home);
  expect(sessions[0]?.messages).toMatchObject([
    { metadata: { kind: "notice" } },
    { role: "user", content: "List the files", createdAt: at },
    { content: "ls does it", metadata: { kind: "thinking" } },
    { role: "assistant", content: "I list them." },
    { content: "Execute\nls", metadata: { tool: { callId: "c1" } } },
    { role: "tool", content: "a.txt\n\nwarned", metadata: { result: { callId: "c1", exitCode: 2 } } },
    { metadata: { tool: { name: "Read", callId: "c2" } } },
    { role: "tool", content: "There is no b.", metadata: { result: { callId: "c2", isError: true } } },
    { role: "assistant", content: "a.txt" },
    { role: "assistant", content: "Only one file." },
    { content: "Error: The key has expired.", metadata: { kind: "notice" } },
  ]);
  expect(sessions[0]?.ending).toMatchObject({
    model: "gpt-5.2",
    metadata: { cwd: "/home/ada/code/web", usage: { inputTokens: 18, outputTokens: 8, cacheReadTokens: 4 } },
  });
  expect([unhandled, counts]).toEqual([[], { entries: 12, skipped: 2, invalid: 0 }]);
});

test("other versions' names are read: details in the session, a summary of two parts, a model with each answer", async () => {
  const session = { title: "Tidy up", workspace_root: "/home/ada/code/web", created_at: "2026-11-01T09:00:00.000Z" };
  const answer = { ...said("assistant", "Done."), message: { role: "assistant", content: "Done.", model: "gpt-5.2" } };
  const { sessions, unhandled } = await parseAll(
    droid,
    await makeHome({
      [path]: toLines(
        { type: "session_start", id, session },
        { ...answer, message: { ...answer.message, model: "claude-opus-4-5" } },
        { type: "compaction_state", timestamp: at, summary: { title: "So far", body: "They tidied." } },
        answer,
      ),
    }),
  );
  expect(sessions[0]?.messages.map(({ content, metadata }) => [content, metadata?.model])).toEqual([
    ["Done.", "claude-opus-4-5"],
    ["So far\n\nThey tidied.", undefined],
    ["Done.", "gpt-5.2"],
  ]);
  const { created_at: createdAt } = session;
  expect(sessions[0]?.ending).toMatchObject({ title: "Tidy up", project: "web", model: "gpt-5.2", createdAt });
  expect(unhandled).toEqual([]);
});
