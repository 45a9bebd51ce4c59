import { stat } from "node:fs/promises";
import { expect, test } from "vitest";
import type { Checkpoint, Input, Message, SessionDetails, Sink } from "../../cli/adapters/adapter.ts";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { call, id, Lines, makeUuid, text, variedLines } from "./claude-lines.ts";
import { discoverAll, makeHome, parseAll, toLines, writeBelow } from "./home.ts";

const path = `.claude/projects/-home-ada-code-api/${id}.jsonl`;
const parse = async (...records: unknown[]) => parseAll(claudeCode, await makeHome({ [path]: toLines(...records) }));
const told = ({ role, content, metadata }: Message) => [role, content.split("\n")[0], metadata?.kind];

test("what an agent's program leaves beside the conversation is kept, each once", async () => {
  const { sessions, counts, unhandled, invalid } = await parse(...variedLines());
  const [session] = sessions;
  expect(session?.messages.map(told)).toEqual([
    ["user", "Mend it, as in @notes.md", undefined],
    ["user", "[image: image/png, 2 KiB]", undefined],
    ["system", "UserPromptSubmit hook", "notice"],
    ["assistant", "I look.", undefined],
    ["assistant", "Bash", undefined],
    ["tool", "[main abc1234] Mend the timer", undefined],
    ["user", "And the docs", undefined],
    ["assistant", "Bash", undefined],
    ["tool", "https://github.com/ada/api/pull/7", undefined],
    ["assistant", "Done.", undefined],
    ["system", "lint failed", "notice"],
    ["system", "You mended the timer.", "notice"],
  ]);
  const files = [{ type: "image/png" }, { type: "file", name: "notes.md" }];
  expect(session?.messages[0]?.metadata).toEqual({ branch: "main", uuid: makeUuid(0) });
  expect(session?.messages[1]?.metadata).toEqual({ attachments: files });
  expect(session?.messages[3]).toMatchObject({
    tokenCount: 8,
    metadata: {
      model: "claude-opus-4-5",
      requestId: "req_1",
      serviceTier: "standard",
      stopReason: "tool_use",
      uuid: makeUuid(5),
      usage: { inputTokens: 3, outputTokens: 8, cacheWriteTokens: 30, cacheWrite5mTokens: 10, cacheWrite1hTokens: 20 },
    },
  });
  expect(session?.messages[4]?.metadata).toEqual({
    tool: expect.anything(),
    uuid: makeUuid(6),
    usage: { outputTokens: 32 },
  });
  expect(session?.messages[7]?.metadata).toMatchObject({ branch: "timer", requestId: "req_2", stopReason: "end_turn" });
  expect(session?.messages[11]?.metadata).toMatchObject({ subtype: "away_summary" });
  expect(session?.ending).toMatchObject({ title: "Mend the timer", createdAt: "2026-11-01T09:59:59.000Z" });
  expect(session?.ending.metadata).toEqual({
    cwd: "/home/ada/code/api",
    branch: "main",
    agentVersion: "2.1.270",
    workedMs: 900,
    commits: [{ hash: "abc1234def0", branch: "main", position: 5, subject: "Mend the timer" }],
    pullRequests: [{ number: 7, url: "https://github.com/ada/api/pull/7", repository: "ada/api" }],
    costs: [
      { startedAt: "2026-11-01T10:00:00.000Z", costUsd: 0.03 },
      { startedAt: "2026-11-01T10:01:00.000Z", costUsd: 0.5 },
    ],
    usage: {
      inputTokens: 6,
      outputTokens: 65,
      cacheReadTokens: 200,
      cacheWriteTokens: 60,
      cacheWrite5mTokens: 20,
      cacheWrite1hTokens: 40,
      reasoningTokens: 4,
    },
  });
  expect([counts, unhandled, invalid]).toEqual([{ entries: 26, skipped: 15, invalid: 0 }, [], []]);
});

/** Reads a file from a checkpoint on. */
async function readFrom(input: Input, from?: Checkpoint & { messages: number }) {
  const read: { messages: Message[]; ending?: SessionDetails; at?: Checkpoint } = { messages: [] };
  const sink: Sink = {
    begin() {},
    message: (message) => void read.messages.push(message),
    end: (ending) => void Object.assign(read, { ending }),
    checkpoint: (at) => void Object.assign(read, { at: JSON.parse(JSON.stringify(at)) }),
    reject() {},
    lost() {},
    entry() {},
    skipped() {},
    invalid() {},
    unhandled() {},
    folder() {},
    pause: async () => {},
  };
  await claudeCode.parse({ ...input, ...(from && { from }) }, sink);
  return read;
}

test("a session that is read in two goes, wherever the first one ended, is the one that is read in one", async () => {
  const lines = variedLines();
  const { sessions } = await parse(...lines);
  for (let cut = 5; cut < lines.length; cut++) {
    // A file that the user names is written down together with the user's words.
    if ((lines[cut]?.attachment as { type?: string } | undefined)?.type === "file") continue;
    const host = await makeHome({ [path]: toLines(...lines.slice(0, cut)) });
    const [before] = await discoverAll(claudeCode, host);
    const first = await readFrom(before as Input);
    if (!first.at) throw new Error(`no checkpoint after ${cut} lines`);
    const whole = await writeBelow(host.home, path, toLines(...lines));
    const { size } = await stat(whole);
    const second = await readFrom(
      { ...(before as Input), bytes: size },
      { ...first.at, messages: first.messages.length },
    );
    expect([...first.messages, ...second.messages], `cut before line ${cut}`).toEqual(sessions[0]?.messages);
    expect(second.ending).toEqual(sessions[0]?.ending);
  }
});

test("what was typed while the agent worked is the user's, what the program queued is a notice, and nothing comes twice", async () => {
  const make = new Lines();
  const queue = (operation: string, content?: string) => ({ type: "queue-operation", operation, content });
  const note = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>";
  const { sessions } = await parse(
    make.said("Begin"),
    queue("enqueue", "Pasted [Pasted text #1]"),
    queue("enqueue", note),
    queue("remove"),
    make.attached({ type: "queued_command", prompt: "Pasted words", commandMode: "prompt" }),
    queue("remove", note),
    make.attached({ type: "queued_command", prompt: note, commandMode: "task-notification" }),
    make.attached({ type: "queued_command", prompt: [...text("With a picture"), { type: "image", source: {} }] }),
    make.answered(text("Going on.")),
    queue("enqueue", "Only in the queue"),
    queue("enqueue", "Taken back"),
    queue("remove"),
    queue("popAll"),
    make.answered(text("Done."), { id: "msg_2" }),
  );
  expect(sessions[0]?.messages.map(told)).toEqual([
    ["user", "Begin", undefined],
    ["user", "Pasted words", undefined],
    ["user", "<task-notification>", "notice"],
    ["user", "With a picture", undefined],
    ["user", "[image: unknown type]", undefined],
    ["assistant", "Going on.", undefined],
    ["user", "Only in the queue", "notice"],
    ["assistant", "Done.", undefined],
  ]);
});

test("hooks' output and the system's lines are notices; those without a text are not", async () => {
  const make = new Lines();
  const hook = (type: string, more: object) => make.attached({ type, hookName: "PreToolUse:Bash", ...more });
  const { sessions, unhandled } = await parse(
    hook("hook_success", { content: "", stdout: "plain\n", exitCode: 0 }),
    hook("hook_success", { content: "", stdout: '{"continue":true}' }),
    hook("hook_success", { content: "", stdout: "" }),
    hook("hook_additional_context", { content: ["One.", "Two."] }),
    hook("hook_blocking_error", { blockingError: { blockingError: "No.", command: "check" } }),
    hook("hook_non_blocking_error", { stderr: "not found", stdout: "", exitCode: 127 }),
    hook("async_hook_response", { response: { hookSpecificOutput: { additionalContext: "Later." } }, stdout: "x" }),
    hook("hook_cancelled", {}),
    make.line({ type: "saved_hook_context", hookName: "SessionStart", content: ["Older."] }),
    make.system("api_error", {
      error: { status: 529, error: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } },
      retryAttempt: 1,
      maxRetries: 10,
    }),
    make.system("api_error", { cause: { code: "ECONNRESET" } }),
    make.system("local_command", { content: "<local-command-stdout>Set model</local-command-stdout>" }),
    make.system("scheduled_task_fire", { content: "Nightly" }),
    make.system("memory_saved", { writtenPaths: ["x"] }),
    make.attached({ type: "hologram" }),
    make.line({ type: "attachment" }),
  );
  expect(sessions[0]?.messages.map(({ role, content, metadata }) => [role, content, metadata?.subtype])).toEqual([
    ["system", "PreToolUse:Bash hook\nplain", "hook_success"],
    ["system", "PreToolUse:Bash hook\nOne.\nTwo.", "hook_additional_context"],
    ["system", "PreToolUse:Bash hook\nNo.", "hook_blocking_error"],
    ["system", "PreToolUse:Bash hook\nnot found", "hook_non_blocking_error"],
    ["system", "PreToolUse:Bash hook\nLater.", "async_hook_response"],
    ["system", "SessionStart hook\nOlder.", "hook_additional_context"],
    ["system", "API error 529: Overloaded (retry 1 of 10)", "api_error"],
    ["system", "API error: ECONNRESET", "api_error"],
    ["user", "<local-command-stdout>Set model</local-command-stdout>", undefined],
    ["system", "Nightly", "scheduled_task_fire"],
  ]);
  expect(unhandled).toEqual(["attachment.hologram"]);
});

test("a text that is only the program's is a notice, and stays in its place and under its role", async () => {
  const make = new Lines();
  const { sessions } = await parse(
    make.said([...text("<ide_opened_file>The user opened a.ts.</ide_opened_file>"), ...text("Real words")]),
    make.said("<system-reminder>Be careful.</system-reminder>"),
    make.said("<system-reminder>a</system-reminder> and words <system-reminder>b</system-reminder>"),
    make.said("From another session", { origin: { kind: "peer" } }),
    make.said("Typed", { origin: { kind: "human" } }),
    make.said("[SUGGESTION MODE: Suggest what the user might type next.]"),
  );
  expect(sessions[0]?.messages.map(({ role, metadata }) => [role, metadata?.kind])).toEqual([
    ["user", "notice"],
    ["user", undefined],
    ["user", "notice"],
    ["user", undefined],
    ["user", "notice"],
    ["user", undefined],
    ["user", "notice"],
  ]);
});

test("a line that was written twice counts once, and so does what each line of an answer repeats", async () => {
  const make = new Lines();
  const question = make.said("Why?");
  const usage = (output_tokens: number) => ({ usage: { input_tokens: 1, output_tokens } });
  const grown = make.answered(text("Because it"), usage(2));
  const { sessions, counts } = await parse(
    question,
    { ...question, version: "2.1.271" },
    grown,
    make.answered([...text("Because it rains."), ...call("t1", "ls")], usage(9)),
    make.answered([...text("Because it rains."), ...call("t1", "ls"), ...call("t2", "pwd")], usage(12)),
    make.result("t1", "a"),
    make.answered(text("Because"), { id: "msg_2", ...usage(1) }),
    make.answered(text("Because"), { id: "msg_3", ...usage(1) }),
    make.answered(text("Two"), { id: "msg_4" }, { apiBlockIndex: 0 }),
    make.answered(text("Two and more"), { id: "msg_4" }, { apiBlockIndex: 1 }),
  );
  expect(sessions[0]?.messages.map(({ content, tokenCount }) => [content, tokenCount])).toEqual([
    ["Why?", undefined],
    ["Because it rains.", 9],
    ["Bash\nls", undefined],
    ["Bash\npwd", 3],
    ["a", undefined],
    ["Because", 1],
    ["Because", 1],
    ["Two", undefined],
    ["Two and more", undefined],
  ]);
  expect(sessions[0]?.ending.metadata).toMatchObject({ usage: { inputTokens: 3, outputTokens: 14 } });
  expect(counts).toEqual({ entries: 10, skipped: 1, invalid: 0 });
});

test("a call whose input comes in a later line of its answer has all of it, and the same call under another answer's id counts once", async () => {
  const make = new Lines();
  const use = (input: object) => ({ type: "tool_use", id: "t1", name: "Bash", input });
  const { sessions } = await parse(
    make.said("Look"),
    make.answered([...text("I lo"), use({})]),
    make.answered([...text("I lo"), use({ command: "ls" })]),
    make.answered([use({ command: "ls" })], { id: "msg_2" }),
    make.result("t1", "a.ts"),
    make.answered(text("One."), { id: "msg_2" }),
  );
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["Look", "I lo", "Bash\nls", "a.ts", "One."]);
  expect(sessions[0]?.messages[2]?.metadata?.tool).toMatchObject({ callId: "t1", input: { command: "ls" } });
});

test("answers without any id of their own are counted each", async () => {
  const answer = (output_tokens: number) => ({
    type: "assistant",
    timestamp: "2026-11-01T10:00:00.000Z",
    message: {
      role: "assistant",
      model: "claude-opus-4-5",
      content: text(`${output_tokens}`),
      usage: { output_tokens },
    },
  });
  const { sessions } = await parse(answer(50), answer(75));
  expect(sessions[0]?.ending.metadata?.usage).toEqual({ outputTokens: 125 });
  expect(sessions[0]?.messages.map(({ tokenCount }) => tokenCount)).toEqual([50, 75]);
});
