import { expect, test } from "vitest";
import { ohMyPi } from "../../cli/adapters/oh-my-pi/adapter.ts";
import { makeHome, parseAll, toLines, told } from "./home.ts";

const sessions = ".omp/agent/sessions";
const name = "2026-11-01T10-00-00-000Z_01a";
const at = (seconds: number) => new Date(Date.parse("2026-11-01T10:00:00Z") + seconds * 1000).toISOString();
const header = (id: string, more: object = {}) => ({
  type: "session",
  version: 3,
  id,
  timestamp: at(0),
  cwd: "/code/web",
  ...more,
});
const entry = (type: string, seconds: number, more: object = {}) => ({
  type,
  id: `e${seconds}`,
  timestamp: at(seconds),
  ...more,
});
const said = (seconds: number, role: string, text: string, more: object = {}) =>
  entry("message", seconds, { message: { role, content: [{ type: "text", text }], ...more } });
const usage = (output: number) => ({ usage: { input: 10, output, cacheRead: 5, cacheWrite: 0 } });

test("a session has its turns, the title in its first line, and the tokens of requests beside the conversation", async () => {
  const home = await makeHome({
    [`${sessions}/--code-web--/${name}.jsonl`]: toLines(
      { type: "title", v: 1, title: "Now", source: "user", updatedAt: at(9), pad: "  " },
      header("01a", { title: "First" }),
      entry("model_change", 1, { model: "anthropic/claude-opus-4-5" }),
      entry("model_change", 1, { model: "openai/gpt-5-nano", role: "smol" }),
      said(2, "developer", "Be brief."),
      said(3, "user", "Why?"),
      said(4, "assistant", "Because.", usage(7)),
      entry("model_usage", 5, { purpose: "title", model: "gpt-5-nano", ...usage(3) }),
      entry("title_change", 6, { title: "Between", source: "auto" }),
      entry("reset_boundary", 7),
      entry("credential_pin", 8, { provider: "anthropic", hash: "x" }),
      entry("hologram", 9),
    ),
    [`${sessions}/loose.jsonl`]: toLines(header("loose"), said(1, "user", "No project")),
  });
  const parsed = await parseAll(ohMyPi, home);
  expect(parsed.sessions.map(({ source, sourceId, ending }) => [source, sourceId, ending])).toEqual([
    [
      "oh-my-pi",
      "01a",
      {
        title: "Now",
        model: "claude-opus-4-5",
        project: "web",
        createdAt: at(0),
        metadata: { cwd: "/code/web", usage: { inputTokens: 20, outputTokens: 10, cacheReadTokens: 10 } },
      },
    ],
  ]);
  expect(told(parsed.sessions[0]?.messages)).toEqual([
    ["system", "Be brief.", "notice"],
    ["user", "Why?", undefined],
    ["assistant", "Because.", undefined],
    ["system", "The conversation so far was cleared.", "notice"],
  ]);
  expect([parsed.unhandled, parsed.counts]).toEqual([["hologram"], { entries: 12, skipped: 8, invalid: 0 }]);
});

test("sub-agents' files are in a folder that is named after the one that started them; a fork names its origin", async () => {
  const home = await makeHome({
    [`${sessions}/p/${name}.jsonl`]: toLines(header("01a"), said(1, "user", "Ask two")),
    [`${sessions}/p/${name}/scout.jsonl`]: toLines(header("02b"), said(2, "user", "Look")),
    [`${sessions}/p/${name}/scout/inner.jsonl`]: toLines(header("03c"), said(3, "user", "Look closer")),
    [`${sessions}/p/2026-11-01T11-00-00-000Z_04d.jsonl`]: toLines(
      header("04d", { parentSession: "01a", timestamp: at(60) }),
      said(1, "user", "Ask two"),
      said(61, "user", "Ask three"),
    ),
  });
  const { sessions: found } = await parseAll(ohMyPi, home);
  const links = found.map(({ sourceId, ending, messages }) => {
    const { parent, forkedFrom } = ending.metadata as { parent?: string; forkedFrom?: string };
    return [sourceId, parent, forkedFrom, messages.map(({ metadata }) => metadata?.replayed ?? false)];
  });
  expect(links.sort()).toEqual([
    ["01a", undefined, undefined, [false]],
    ["02b", "01a", undefined, [false]],
    ["03c", "02b", undefined, [false]],
    ["04d", undefined, "01a", [true, false]],
  ]);
});
