import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { kilo, mimocode, opencode } from "../../cli/adapters/opencode/adapter.ts";
import { maxWholeBytes } from "../../cli/files/line-reader.ts";
import { tally } from "./databases.ts";
import { discoverAll, makeHome, parseAll, told, writeBelow } from "./home.ts";
import {
  answer,
  at,
  bash,
  data,
  database,
  done,
  files,
  placedFor,
  question,
  start,
  talk,
  tokens,
} from "./opencode-files.ts";

test("a session in files has its turns, tool calls with results, and each message's tokens once", async () => {
  const { sessions, counts, unhandled } = await parseAll(opencode, await makeHome(files("ses_a", talk)));
  const usage = { inputTokens: 100, outputTokens: 40, cacheReadTokens: 300, cacheWriteTokens: 20, reasoningTokens: 7 };
  expect(sessions).toEqual([
    {
      source: "opencode",
      sourceId: "ses_a",
      messages: [
        { role: "user", content: "List.", createdAt: at(1), metadata: { uuid: "msg_a_0" } },
        {
          role: "assistant",
          content: "ls.",
          createdAt: at(2.5),
          tokenCount: 40,
          metadata: { kind: "thinking", model: "claude-opus-4-5", uuid: "msg_a_1", usage },
        },
        {
          role: "assistant",
          content: "bash\nls",
          createdAt: at(3),
          metadata: { tool: { name: "bash", callId: "c1", input: { command: "ls" }, content: "call" } },
        },
        {
          role: "tool",
          content: "a.ts",
          createdAt: at(3.25),
          metadata: { result: { callId: "c1", exitCode: 0 }, durationMs: 250 },
        },
      ],
      ending: {
        model: "claude-opus-4-5",
        title: "Listing",
        project: "api",
        createdAt: at(0),
        metadata: { cwd: "/code/api", agentVersion: "1.1.0", usage },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 8, skipped: 3, invalid: 0 }, []]);
});

test.each([opencode, kilo, mimocode])("$name: a small reading of the same files counts the same", async (adapter) => {
  const turns = Array.from({ length: 6 }, () => [...talk, answer([{ type: "text", text: "One." }, bash(done)])]).flat();
  const own = files("ses_a", turns);
  const written = Object.entries(placedFor(adapter.name, own));
  const { sessions } = await parseAll(adapter, await makeHome(Object.fromEntries(written)));
  const below = (folder: string) =>
    written.filter(([path]) => path.includes(`/${folder}/`)).map(([, text]) => JSON.parse(text));
  const has = (type: string) => below("part").filter((part) => part.type === type).length;
  const asked = below("message").filter(({ role }) => role === "user").length;
  expect(tally(sessions[0]?.messages ?? [])).toEqual({
    user: asked,
    thinking: has("reasoning"),
    assistant: has("text") - asked,
    call: has("tool"),
    result: has("tool"),
  });
  const used = below("message").flatMap((message) => message.tokens ?? []);
  const sum = (read: (one: typeof tokens) => number) => used.reduce((all, one) => all + read(one), 0);
  expect(sessions[0]?.ending.metadata?.usage).toMatchObject({
    inputTokens: sum(({ input }) => input),
    outputTokens: sum(({ output }) => output),
    cacheReadTokens: sum(({ cache }) => cache.read),
    cacheWriteTokens: sum(({ cache }) => cache.write),
  });
});

test("a session in the database is read there, and not again from the files it came from", async () => {
  const host = await makeHome({ ...files("ses_a", [question("Older")]), ...files("ses_b", [question("Left")]) });
  database(host, { ses_a: talk }).close();
  const { sessions } = await parseAll(opencode, host);
  expect(sessions.map(({ sourceId, messages }) => [sourceId, messages.map(({ content }) => content)])).toEqual([
    ["ses_a", ["List.", "ls.", "bash\nls", "a.ts"]],
    ["ses_b", ["Left"]],
  ]);
  expect(sessions[0]?.ending).toMatchObject({ project: "api", createdAt: at(0), metadata: { agentVersion: "1.2.0" } });
});

test("a database is read while OpenCode writes to it, and only the session that grew gets another stamp", async () => {
  const host = await makeHome(files("ses_x", []));
  const db = database(host, { ses_a: talk, ses_b: talk });
  const before = await discoverAll(opencode, host);
  db.prepare("UPDATE part SET time_updated = ?, data = ? WHERE id = 'prt_msg_b_0_0'").run(
    start + 9,
    JSON.stringify({ type: "text", text: "List all." }),
  );
  const after = await discoverAll(opencode, host);
  const changed = after.filter(({ stamp }, index) => stamp !== before[index]?.stamp);
  expect(changed.map(({ path }) => path)).toEqual([join(host.home, data, "opencode.db#ses_b")]);
  const { sessions } = await parseAll(opencode, host);
  expect(sessions.find(({ sourceId }) => sourceId === "ses_b")?.messages[0]?.content).toBe("List all.");
  db.close();
});

test("without SQLite support, the database is reported with the Node version to use, and the files are read", async () => {
  const host = await makeHome(files("ses_a", talk));
  database(host, { ses_b: talk }, "opencode-beta.db").close();
  vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  const { sessions, lost } = await parseAll(opencode, host);
  vi.restoreAllMocks();
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual(["ses_a"]);
  expect(lost).toEqual([expect.stringContaining("need Node 22.13 or later")]);
});

test("OPENCODE_DB names another database; a file that is no database is reported and stops nothing", async () => {
  const host = await makeHome({
    "own/x.db": "no database, but long enough to look at".repeat(40),
    ...files("ses_a", talk),
  });
  const elsewhere = { ...host, env: { OPENCODE_DB: join(host.home, "own/x.db") } };
  const { sessions, lost } = await parseAll(opencode, elsewhere);
  expect(sessions).toHaveLength(1);
  expect(lost).toEqual([expect.stringContaining("not a database")]);
});

test("injected text is a notice; sub-agents, failures and reverted messages are marked", async () => {
  const task = { type: "tool", callID: "c2", tool: "task", state: { ...done, metadata: { sessionId: "ses_c" } } };
  const edit = {
    type: "tool",
    callID: "c3",
    tool: "edit",
    state: { ...done, output: "", metadata: { diff: "-a\n+b" } },
  };
  const messages = [
    {
      ...question(""),
      parts: [
        { type: "text", text: "Read by the tool.", synthetic: true },
        { type: "compaction", auto: true },
      ],
    },
    answer([{ type: "text", text: "They greeted." }], { summary: true }),
    answer([task, edit, bash({ status: "error", error: "denied" }), bash({ status: "running" })]),
    answer([{ type: "retry", error: { name: "APIError", data: { message: "busy" } } }], {
      error: { name: "MessageAbortedError", data: { message: "Stopped" } },
    }),
    {
      ...question(""),
      parts: [{ type: "file", filename: "a.png", mime: "image/png", url: "data:" }, { type: "agent" }],
    },
  ];
  const child = { parentID: "ses_p", title: "Read it (twice) (@general subagent)" };
  const about = { ...child, revert: { messageID: "msg_c_4" }, directory: "C:\\code\\shop" };
  const { sessions, unhandled } = await parseAll(opencode, await makeHome(files("ses_c", messages, about)));
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "Read by the tool.", "notice"],
    ["system", "The conversation so far was compacted.", "notice"],
    ["assistant", "They greeted.", "notice"],
    ["assistant", "task", undefined],
    ["tool", "a.ts", { callId: "c2", session: "ses_c" }],
    ["assistant", "edit", undefined],
    ["tool", "", { callId: "c3", patch: "-a\n+b" }],
    ["assistant", "bash\nls", undefined],
    ["tool", "denied", { callId: "c1", isError: true }],
    ["assistant", "bash\nls", undefined],
    ["system", "Tried again: APIError: busy", "notice"],
    ["system", "MessageAbortedError: Stopped", "notice"],
    ["system", "What follows was taken back.", "notice"],
    ["user", "[file: a.png, image/png]", undefined],
  ]);
  expect(sessions[0]?.ending).toMatchObject({
    title: "Read it (twice)",
    project: "shop",
    metadata: { parent: "ses_p" },
  });
  expect(unhandled).toEqual([]);
});

test("reasoning tokens that the total lists separately count as output", async () => {
  const apart = answer([{ type: "text", text: "Yes" }], { tokens: { ...tokens, total: 467 } });
  const { sessions } = await parseAll(opencode, await makeHome(files("ses_a", [apart])));
  expect(sessions[0]?.messages[0]?.tokenCount).toBe(47);
});

test("unknown parts are counted, truncated and oversized ones reported, and the rest is read", async () => {
  const messages = [
    question("Hi"),
    answer([{ type: "dream" }, { type: "text", text: "Hello" }]),
    { info: { role: "ghost" }, parts: [] },
  ];
  const host = await makeHome(files("ses_a", messages));
  const part = `${data}/storage/part/msg_a_0`;
  await writeBelow(host.home, `${part}/prt_1.json`, '{"type":"te');
  await writeBelow(host.home, `${part}/prt_2.json`, Buffer.alloc(maxWholeBytes + 1, " "));
  const { sessions, unhandled, counts, lost } = await parseAll(opencode, host);
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["Hi", "Hello"]);
  expect(unhandled).toEqual(["part.dream", "role.ghost"]);
  expect(counts.invalid).toBe(2);
  expect(lost).toEqual([expect.stringMatching(/^prt_2\.json is larger than 16 MiB/)]);
});

test("a message that is written again changes its session's stamp", async () => {
  const host = await makeHome(files("ses_a", talk));
  const [before] = await discoverAll(opencode, host);
  await writeBelow(
    host.home,
    `${data}/storage/message/ses_a/msg_a_1.json`,
    JSON.stringify({ role: "assistant", more: 1 }),
  );
  const [after] = await discoverAll(opencode, host);
  expect(after?.stamp).not.toBe(before?.stamp);
  expect(await discoverAll(opencode, host)).toEqual([after]);
});
