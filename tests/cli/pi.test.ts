import { readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Input, Sink } from "../../cli/adapters/adapter.ts";
import { openclaw } from "../../cli/adapters/openclaw/adapter.ts";
import { pi } from "../../cli/adapters/pi/adapter.ts";
import { discoverAll, makeHome, parseAll, toLines } from "./home.ts";

const id = "0199dddd-2222-7333-8444-555555555555";
const path = `.pi/agent/sessions/--home-ada-code-web--/2026-11-01T10-00-00-000Z_${id}.jsonl`;
const parse = async (...records: unknown[]) => parseAll(pi, await makeHome({ [path]: toLines(...records) }));

const at = "2026-11-01T10:00:00.000Z";
const header = { type: "session", version: 3, id, timestamp: at, cwd: "/home/ada/code/web" };
const message = (message: object) => ({ type: "message", id: "m", parentId: null, timestamp: at, message });
const usage = { input: 12, output: 7, cacheRead: 100, cacheWrite: 3, totalTokens: 122, cost: { total: 0.25 } };

test("a session has its turns, thoughts, calls with results, tokens and cost", async () => {
  const { sessions, counts, unhandled } = await parse(
    header,
    { type: "model_change", modelId: "claude-opus-4-5", provider: "anthropic" },
    message({
      role: "user",
      content: [
        { type: "text", text: "Read it" },
        { type: "image", mimeType: "image/png", data: "AAAA" },
      ],
    }),
    message({
      role: "assistant",
      model: "claude-opus-4-5",
      usage,
      content: [
        { type: "thinking", thinking: "Which one?" },
        { type: "text", text: "Reading." },
        { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.txt" } },
      ],
    }),
    message({
      role: "toolResult",
      toolCallId: "c1",
      toolName: "read",
      content: [{ type: "text", text: "hi" }],
      isError: true,
    }),
    message({ role: "bashExecution", command: "ls", output: "a.txt", exitCode: 1 }),
    { type: "compaction", summary: "They read.", timestamp: at },
    { type: "session_info", name: "Reading a.txt" },
    { type: "label", targetId: "m", label: "here" },
  );
  expect(sessions).toMatchObject([
    {
      source: "pi",
      sourceId: id,
      messages: [
        { role: "user", content: "Read it" },
        { role: "user", content: "[image: image/png, 1 KiB]" },
        { role: "assistant", content: "Which one?", tokenCount: 7, metadata: { kind: "thinking", costUsd: 0.25 } },
        { role: "assistant", content: "Reading." },
        { role: "assistant", content: "read\na.txt", metadata: { tool: { name: "read", callId: "c1" } } },
        { role: "tool", content: "hi", metadata: { result: { callId: "c1", isError: true } } },
        { role: "user", content: "bash\nls", metadata: { tool: { callId: "command-0" } } },
        { role: "tool", content: "a.txt", metadata: { result: { callId: "command-0", exitCode: 1 } } },
        { content: "They read.", metadata: { kind: "notice" } },
      ],
      ending: {
        title: "Reading a.txt",
        model: "claude-opus-4-5",
        project: "web",
        createdAt: at,
        metadata: {
          cwd: "/home/ada/code/web",
          usage: { inputTokens: 12, outputTokens: 7, cacheReadTokens: 100, cacheWriteTokens: 3 },
        },
      },
    },
  ]);
  expect([counts, unhandled]).toEqual([{ entries: 9, skipped: 4, invalid: 0 }, []]);
});

test("a fork names the session that it was made from; a file without a header has its name as id", async () => {
  const forked = { ...header, branchedFrom: "/x/2026-10-01T00-00-00-000Z_parent.jsonl" };
  const { sessions } = await parse(forked, message({ role: "user", content: "Again" }));
  expect(sessions[0]?.ending.metadata).toMatchObject({ forkedFrom: "parent" });
  const bare = await parse(message({ role: "user", content: "Hi" }));
  expect(bare.sessions[0]?.sourceId).toBe(id);
});

const answer = (number: number) => ({
  ...message({
    role: "assistant",
    content: [{ type: "text", text: `Answer ${number}` }],
    usage: { input: 3, output: 10 ** number },
  }),
  id: `a${number}`,
  timestamp: `2026-11-01T10:00:0${number}.123Z`,
});
const old = `.pi/agent/sessions/p/2026-11-01T10-00-00-000Z_old.jsonl`;
const head = (name: string, minute: number, more: object = {}) => ({
  ...header,
  id: name,
  timestamp: `2026-11-01T11:0${minute}:00.000Z`,
  ...more,
});
/** The output tokens that count in each session, by its id. */
async function readOutputs(files: Record<string, string>, isStored = (_: string): boolean => false) {
  const adapter = { ...pi, parse: (input: Input, sink: Sink) => pi.parse({ ...input, isStored }, sink) };
  const { sessions } = await parseAll(adapter, await makeHome(files));
  return sessions.map(({ sourceId, ending }) => [
    sourceId,
    (ending.metadata?.usage as { outputTokens?: number } | undefined)?.outputTokens ?? 0,
    ending.metadata?.forkedFrom,
  ]);
}

test("only what an older file has is a copy: in chains, without the original, and in copies of synchronizing programs", async () => {
  const parent = toLines(head("old", 0), answer(0), answer(1));
  const fork = (name: string, minute: number, from: string, ...answers: number[]) =>
    toLines(head(name, minute, { parentSession: `/x/${from}.jsonl` }), ...answers.map(answer));
  const files = {
    [old]: parent,
    ".pi/agent/sessions/p/b_second.jsonl": fork("second", 1, "old", 0, 1, 2),
    ".pi/agent/sessions/p/c_third.jsonl": fork("third", 2, "second", 0, 1, 2, 3),
    [old.replace(".jsonl", ".sync-conflict-20261101-110000-ABCDEFG.jsonl")]: parent + toLines(answer(4)),
  };
  const counted = await readOutputs(files);
  expect(counted.map(([, tokens]) => tokens).toSorted()).toEqual([10_000, 1000, 100, 11].toSorted());
  expect(counted).toContainEqual(["third", 1000, "second"]);
  expect(new Set(counted.map(([sourceId]) => sourceId)).size).toBe(4);
  const { [old]: _, ...left } = files;
  const without = await readOutputs(left);
  expect(without.reduce((sum, [, tokens]) => sum + Number(tokens), 0)).toBe(11_111);
  const began = { parentSession: "/x/old.jsonl", timestamp: "2026-11-01T10:00:01.500Z" };
  const alone = {
    ".pi/agent/sessions/p/b_second.jsonl": toLines(head("second", 1, began), answer(0), answer(1), answer(2)),
  };
  expect(await readOutputs(alone)).toEqual([["second", 111, "old"]]);
  expect(await readOutputs(alone, (sourceId) => sourceId === "old")).toEqual([["second", 100, "old"]]);
});

test.skipIf(process.platform !== "linux")(
  "however many sessions a folder has, each is read a few times at most",
  async () => {
    const names = Array.from({ length: 100 }, (_, n) => `${n}`.padStart(8, "0") + id.slice(8));
    const lines = (name: string) =>
      toLines(
        { ...header, id: name },
        ...Array.from({ length: 20 }, (_, n) => ({
          ...message({ role: "user", content: [{ type: "text", text: "word ".repeat(200) }] }),
          id: `${name}-${n}`,
        })),
      );
    const files = Object.fromEntries(names.map((name) => [`${dirname(path)}/2026_${name}.jsonl`, lines(name)]));
    const size = Object.values(files).reduce((sum, text) => sum + text.length, 0);
    const host = await makeHome(files);
    const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
    const before = bytesRead();
    expect((await parseAll(pi, host)).sessions).toHaveLength(100);
    expect(bytesRead() - before).toBeLessThan(5 * size);
  },
);

test("sessions are looked for in the folder that Pi keeps them in", async () => {
  const found = async (env: Record<string, string>) => {
    const host = await makeHome({ [path]: "", [`agent/sessions/p/a_${id}.jsonl`]: "", [`kept/b_${id}.jsonl`]: "" });
    const named = Object.entries(env).map(([name, folder]) => [name, join(host.home, folder)]);
    return (await discoverAll(pi, { ...host, env: Object.fromEntries(named) })).map((input) =>
      input.path.slice(host.home.length + 1),
    );
  };
  expect(await found({})).toEqual([path]);
  expect(await found({ PI_CODING_AGENT_DIR: "agent" })).toEqual([`agent/sessions/p/a_${id}.jsonl`]);
  expect(await found({ PI_CODING_AGENT_DIR: "agent", PI_CODING_AGENT_SESSION_DIR: "kept" })).toEqual([
    `kept/b_${id}.jsonl`,
  ]);
});

test("unknown roles, lines and blocks are counted, and the rest is kept", async () => {
  const blocks = [{ type: "hologram" }, { type: "text", text: "Still here" }];
  const { sessions, unhandled, counts } = await parse(
    header,
    message({ role: "oracle", content: "?" }),
    message({ role: "user", content: blocks }),
    { type: "dream" },
    { type: "message" },
  );
  expect(sessions[0]?.messages).toMatchObject([{ content: "Still here" }]);
  expect(unhandled).toEqual(["role.oracle", "content.hologram", "dream"]);
  expect(counts).toEqual({ entries: 5, skipped: 3, invalid: 1 });
});

test("OpenClaw's sessions bear their agent's name, also those that were put aside", async () => {
  const lines = toLines({ ...header, id: "s1" }, message({ role: "user", content: "Hi" }));
  const home = await makeHome({
    ".openclaw/agents/main/sessions/s1.jsonl": lines,
    ".openclaw/agents/work/sessions/s1.jsonl.reset.2026-11-01T10-00-00.000Z": lines,
    ".openclaw/agents/work/sessions/sessions.json": "{}",
    ".openclaw/agents/work/agent/other.jsonl": lines,
  });
  const { sessions } = await parseAll(openclaw, home);
  expect(sessions.map(({ source, sourceId }) => `${source} ${sourceId}`)).toEqual([
    "openclaw main/s1",
    "openclaw work/s1",
  ]);
});

test("OpenClaw's folder under an older name is searched, and a link to the one of today is not", async () => {
  const lines = toLines({ ...header, id: "s1" }, message({ role: "user", content: "Hi" }));
  const home = await makeHome({
    ".openclaw/agents/main/sessions/s1.jsonl": lines,
    ".moltbot/agents/old/sessions/s1.jsonl": lines,
  });
  await symlink(join(home.home, ".openclaw"), join(home.home, ".clawdbot"));
  const { sessions } = await parseAll(openclaw, home);
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual(["old/s1", "main/s1"]);
});
