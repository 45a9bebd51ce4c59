import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { gemini } from "../../cli/adapters/gemini/adapter.ts";
import { maxWholeBytes } from "../../cli/files/line-reader.ts";
import { discoverAll, makeHome, parseAll, toLines, told } from "./home.ts";

const id = "aaaa1111-2222-4333-8444-555555555555";
const chats = ".gemini/tmp/web/chats";
const path = `${chats}/session-2026-11-01T10-00-aaaa1111.jsonl`;
const parse = async (...records: unknown[]) =>
  parseAll(
    gemini,
    await makeHome({ [path]: toLines(meta(), ...records), ".gemini/tmp/web/.project_root": "/code/web\n" }),
  );

const at = (seconds: number) => new Date(Date.parse("2026-11-01T10:00:00Z") + seconds * 1000).toISOString();
const meta = (more: object = {}) => ({ sessionId: id, projectHash: "web", startTime: at(0), kind: "main", ...more });
const said = (key: string, content: unknown, more: object = {}) => ({
  id: key,
  timestamp: at(10),
  type: "user",
  content,
  ...more,
});
const answered = (key: string, content: unknown, more: object = {}) =>
  said(key, content, { type: "gemini", model: "gemini-3-pro", ...more });
const tokens = { input: 1000, output: 20, cached: 600, thoughts: 5, tool: 0, total: 1025 };
const call = (more: object = {}) => ({ id: "c1", name: "run_shell_command", args: { command: "ls" }, ...more });
const response = (output: string) => [
  { functionResponse: { id: "c1", name: "run_shell_command", response: { output } } },
];

test("a message that grew appears once, in its last version, at its first position, and is counted once", async () => {
  const { sessions, counts, unhandled } = await parse(
    said("u1", [{ text: "Look." }]),
    { $set: { lastUpdated: at(11) } },
    answered("a1", "", { tokens }),
    answered("a1", "", { tokens, toolCalls: [call({ status: "executing" })] }),
    said("i1", "Loaded.", { type: "info" }),
    answered("a1", "", {
      tokens,
      thoughts: [{ subject: "Plan", description: "List first.", timestamp: at(9) }],
      toolCalls: [call({ status: "success", result: response("a.ts"), timestamp: at(12) })],
    }),
    { $set: { summary: "Listing files", directories: ["/other"] } },
  );
  expect(sessions).toEqual([
    {
      source: "gemini-cli",
      sourceId: id,
      messages: [
        { role: "user", content: "Look.", createdAt: at(10), metadata: { uuid: "u1" } },
        {
          role: "assistant",
          content: "Plan\n\nList first.",
          createdAt: at(9),
          tokenCount: 25,
          metadata: {
            kind: "thinking",
            model: "gemini-3-pro",
            uuid: "a1",
            usage: { inputTokens: 400, outputTokens: 25, cacheReadTokens: 600, reasoningTokens: 5 },
          },
        },
        {
          role: "assistant",
          content: "run_shell_command\nls",
          createdAt: at(10),
          metadata: { tool: { name: "run_shell_command", callId: "c1", input: { command: "ls" }, content: "call" } },
        },
        { role: "tool", content: "a.ts", createdAt: at(12), metadata: { result: { callId: "c1" } } },
        { role: "system", content: "Loaded.", createdAt: at(10), metadata: { kind: "notice", uuid: "i1" } },
      ],
      ending: {
        model: "gemini-3-pro",
        title: "Listing files",
        project: "web",
        createdAt: at(0),
        metadata: {
          cwd: "/code/web",
          usage: { inputTokens: 400, outputTokens: 25, cacheReadTokens: 600, reasoningTokens: 5 },
        },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 8, skipped: 3, invalid: 0 }, []]);
});

test("a rewind removes nothing: a notice marks where it happened", async () => {
  const { sessions } = await parse(
    said("u1", "One"),
    answered("a1", "First", { tokens }),
    said("u2", "Two"),
    answered("a2", "Second", { tokens }),
    { $rewindTo: "u2" },
    said("u3", "Two, better"),
    { $rewindTo: "gone" },
    said("u4", "Anew"),
  );
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual([
    "One",
    "First",
    "Two",
    "Second",
    "The last turn was taken back.",
    "Two, better",
    "The last 2 turns were taken back.",
    "Anew",
  ]);
  expect(sessions[0]?.ending.metadata).toMatchObject({ usage: { outputTokens: 50 } });
});

test("a replaced history repeats and shortens nothing; what is new in it is a notice", async () => {
  const done = (output: string) =>
    answered("a1", "Done", { toolCalls: [call({ status: "success", result: response(output) })] });
  const { sessions } = await parse(said("u1", "List"), done("all of it"), {
    $set: {
      messages: [
        said("s1", [{ text: "<state_snapshot>Listed.</state_snapshot>" }]),
        said("u1", [{ text: "List" }]),
        done("masked"),
        said("r1", response("masked")),
        answered("k1", [{ functionCall: { id: "c1", name: "run_shell_command", args: {} } }, { text: "Go on." }]),
      ],
    },
  });
  expect(sessions[0]?.messages.map(({ role, content, metadata }) => [role, content, metadata?.kind])).toEqual([
    ["user", "List", undefined],
    ["assistant", "Done", undefined],
    ["assistant", "run_shell_command\nls", undefined],
    ["tool", "all of it", undefined],
    ["user", "<state_snapshot>Listed.</state_snapshot>", "notice"],
    ["assistant", "Go on.", undefined],
  ]);
});

test("a log that only replaces its history is read from the last replacement", async () => {
  const { sessions } = await parse(
    { $set: { messages: [said("u1", "Hi"), answered("a1", "He")] } },
    { $set: { messages: [said("u1", "Hi"), answered("a1", "Hello"), said("u2", "Bye")] } },
  );
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["Hi", "Hello", "Bye"]);
});

const whole = (more: object = {}) =>
  JSON.stringify(
    { ...meta(), lastUpdated: at(20), messages: [said("u1", "Hi"), answered("a1", "Hello", { tokens })], ...more },
    null,
    2,
  );

test("an older recording is one JSON text; a log beside it replaces it; a later file of the session is a separate session", async () => {
  const root = "C:\\code\\shop";
  const hash = createHash("sha256").update(root).digest("hex");
  const old = `.gemini/tmp/${hash}/chats/session-2026-10-01T10`;
  const host = await makeHome({
    ".gemini/projects.json": JSON.stringify({ projects: { [root]: "shop" } }),
    [`${old}-00-aaaa1111.json`]: `\ufeff${whole().replaceAll("\n", "\r\n")}`,
    [`${old}-30-aaaa1111.json`]: whole({ messages: [said("u9", "After a compression")] }),
    [`${old}-45-bbbb1111.json`]: whole({ sessionId: "bbbb1111" }),
    [`${old}-45-bbbb1111.jsonl`]: toLines(meta({ sessionId: "bbbb1111" }), said("u1", "Copied")),
    [`${old}-50-cccc1111.json`]: whole().slice(0, 200),
    [`${old}-55-dddd1111.json`]: whole({ sessionId: "dddd1111", messages: [said("i", "Update!", { type: "info" })] }),
  });
  const { sessions, counts } = await parseAll(gemini, host);
  expect(sessions.map(({ sourceId, messages }) => [sourceId, messages[0]?.content])).toEqual([
    [id, "Hi"],
    [`${id}/session-2026-10-01T10-30-aaaa1111`, "After a compression"],
    ["bbbb1111", "Copied"],
    ["dddd1111", "Update!"],
  ]);
  expect(sessions.map(({ ending }) => ending.metadata?.continues)).toEqual([undefined, id, undefined, undefined]);
  expect(sessions[0]?.ending).toMatchObject({ project: "shop", metadata: { cwd: root, usage: { outputTokens: 25 } } });
  expect(counts.invalid).toBe(1);
});

test("a log that a resumed session begins beside its own is no session until something is said in it", async () => {
  const began = `${chats}/session-2026-10-01T10-00-${id.slice(0, 8)}.jsonl`;
  const resumed = `${chats}/session-2026-10-01T11-00-${id.slice(0, 8)}.jsonl`;
  const context = { $set: { messages: [said("c1", "<session_context>\nToday\n</session_context>")] } };
  const files = { [began]: toLines(meta(), context, said("u1", "Hi"), said("u2", "Again")) };
  const idle = await parseAll(gemini, await makeHome({ ...files, [resumed]: toLines(meta(), context) }));
  expect(idle.sessions.map(({ sourceId, messages }) => [sourceId, messages.length])).toEqual([[id, 3]]);
  const used = await parseAll(
    gemini,
    await makeHome({ ...files, [resumed]: toLines(meta(), context, said("u3", "Here")) }),
  );
  expect(used.sessions.map(({ sourceId }) => sourceId)).toEqual([
    id,
    `${id}/session-2026-10-01T11-00-${id.slice(0, 8)}`,
  ]);
});

test("a recording that is too large to be read whole is reported", async () => {
  const host = await makeHome({ [`${chats}/session-x-aaaa1111.json`]: Buffer.alloc(maxWholeBytes + 1, " ") });
  const { sessions, lost } = await parseAll(gemini, host);
  expect(sessions).toEqual([]);
  expect(lost).toEqual(["session-x-aaaa1111.json is larger than 16 MiB"]);
});

test("a sub-agent's log is a session that names its parent, and the call that started it names the session", async () => {
  const host = await makeHome({
    [path]: toLines(
      meta(),
      said("u1", "Look into it"),
      answered("a1", "", {
        toolCalls: [call({ agentId: "agent7", status: "error", resultDisplay: { fileDiff: "-a\n+b" } })],
      }),
    ),
    [`${chats}/${id}/agent7.jsonl`]: toLines(
      meta({ sessionId: "agent7", kind: "subagent", directories: ["/code/api"] }),
      said("x1", "Do"),
    ),
  });
  const { sessions } = await parseAll(gemini, host);
  const [agent, main] = sessions;
  expect(main?.messages.at(-1)?.metadata).toEqual({
    result: { callId: "c1", isError: true, patch: "-a\n+b", session: `${id}/agent7` },
  });
  expect(agent).toMatchObject({
    sourceId: `${id}/agent7`,
    ending: { project: "api", metadata: { parent: id, cwd: "/code/api" } },
  });
});

test("unknown types are counted, and an incomplete last line is left for later", async () => {
  const host = await makeHome({
    "other/.gemini/tmp/p/chats/session-y-aaaa1111.jsonl": `${toLines(
      meta(),
      { $merge: {} },
      { nothing: true },
      said("d1", "?", { type: "dream" }),
      said("u1", [{ inlineData: { mimeType: "image/png", data: "A".repeat(4096) } }, { hologram: {} }]),
    )}{"id":"u2","typ`,
  });
  const elsewhere = { ...host, env: { GEMINI_CLI_HOME: `${host.home}/other` } };
  const { sessions, counts, unhandled } = await parseAll(gemini, elsewhere);
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["[image: image/png, 3 KiB]"]);
  expect(unhandled).toEqual(["$merge", "dream", "content.hologram"]);
  expect(counts).toEqual({ entries: 5, skipped: 2, invalid: 1 });
  expect(await discoverAll(gemini, host)).toEqual([]);
});

test("the content of files that the user names is a notice below the user's words", async () => {
  const files = "--- Content from referenced files ---\nContent from @a.ts:\nlet a = 1;\n--- End of content ---";
  const { sessions } = await parse(
    said("u1", [{ text: "Explain @a.ts" }, { text: `\n${files}` }]),
    said("u2", [{ text: `Explain @b.ts\n${files}` }], { displayContent: "Explain @b.ts" }),
  );
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "Explain @a.ts", undefined],
    ["user", files, "notice"],
    ["user", "Explain @b.ts", undefined],
  ]);
});

test("a command that failed has its exit code, which stands below its output alone", async () => {
  const failed =
    "<untrusted_context>\nOutput: no such thing\nExit Code: 3\nProcess Group PGID: 17\n</untrusted_context>";
  const printed = "Output: Exit Code: 3\nis what it says";
  const { sessions } = await parse(
    said("u1", "Run them."),
    answered("a1", "", {
      toolCalls: [
        call({ status: "success", result: response(failed) }),
        call({ id: "c2", status: "success", result: response(printed) }),
        call({ id: "c3", name: "read_file", status: "success", result: response(failed) }),
      ],
    }),
  );
  const results = sessions[0]?.messages.flatMap(({ metadata }) => (metadata?.result ? [metadata.result] : []));
  expect(results).toEqual([{ callId: "c1", exitCode: 3 }, { callId: "c2" }, { callId: "c3" }]);
});
