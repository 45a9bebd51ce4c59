import { expect, test } from "vitest";
import { adapters } from "../../cli/adapters/registry.ts";
import { makeHome, type Parsed, parseAll } from "./home.ts";
import { amp } from "./samples/amp.ts";
import { cline, kiloCode, rooCode } from "./samples/cline.ts";
import { codex, trae } from "./samples/codex.ts";
import { continueDev } from "./samples/continue.ts";
import { copilot } from "./samples/copilot.ts";
import { droid } from "./samples/droid.ts";
import { gemini } from "./samples/gemini.ts";
import { grok } from "./samples/grok.ts";
import { kimi } from "./samples/kimi.ts";
import { kimiCli } from "./samples/kimi-cli.ts";
import { ohMyPi, openclaw, pi } from "./samples/pi.ts";
import { qwen } from "./samples/qwen.ts";
import type { Counts, Sample } from "./samples/sample.ts";
import { vibe } from "./samples/vibe.ts";
import { vscodeCopilot } from "./samples/vscode.ts";

const agents: [name: string, sample: Sample][] = [
  ["codex-cli", codex],
  ["gemini-cli", gemini],
  ["copilot-cli", copilot],
  ["grok-build", grok],
  ["qwen-code", qwen],
  ["droid", droid],
  ["kimi-code", kimi],
  ["kimi-cli", kimiCli],
  ["pi", pi],
  ["oh-my-pi", ohMyPi],
  ["openclaw", openclaw],
  ["trae", trae],
  ["mistral-vibe", vibe],
  ["amp", amp],
  ["continue", continueDev],
  ["cline", cline],
  ["roo-code", rooCode],
  ["kilo-code", kiloCode],
  ["vscode-copilot", vscodeCopilot],
];

async function read(name: string, { path, others = {} }: Sample, lines: string): Promise<Parsed> {
  const adapter = adapters.find((one) => one.name === name);
  if (!adapter) throw new Error(`${name} is not read`);
  return parseAll(adapter, await makeHome({ ...others, [path]: lines }));
}

/** The sample's file, with more lines or elements at its end. */
function textOf({ lines, document }: Sample, more: string[] = []): string {
  const items = [...lines.map((line) => JSON.stringify(line)), ...more];
  return document ? document(items) : items.map((item) => `${item}\n`).join("");
}

function countsOf({ sessions }: Parsed): Counts {
  const messages = sessions.flatMap((session) => session.messages);
  const number = (is: (role: string | undefined, metadata: Record<string, unknown>) => boolean) =>
    messages.filter(({ role, metadata = {} }) => is(role, metadata)).length;
  const plain = (metadata: Record<string, unknown>) => !metadata.kind && !metadata.tool && !metadata.result;
  const [session] = sessions;
  const usage = (session?.ending.metadata?.usage ?? {}) as Record<string, number>;
  return {
    questions: number((role, metadata) => role === "user" && plain(metadata)),
    answers: number((role, metadata) => role === "assistant" && plain(metadata)),
    thoughts: number((_, { kind }) => kind === "thinking"),
    calls: number((_, { tool }) => tool !== undefined),
    results: number((_, { result }) => result !== undefined),
    input: usage.inputTokens ?? 0,
    output: usage.outputTokens ?? 0,
    cacheRead: usage.cacheReadTokens ?? 0,
  };
}

test.each(agents)("%s: a small reading of the same file counts the same", async (name, sample) => {
  const parsed = await read(name, sample, textOf(sample));
  expect(countsOf(parsed)).toEqual(sample.count(sample.lines));
  const entries = sample.lines.length + (sample.otherEntries ?? 0);
  expect([parsed.unhandled, parsed.counts.invalid, parsed.counts.entries]).toEqual([[], 0, entries]);
  const messages = parsed.sessions[0]?.messages ?? [];
  const times = messages.flatMap(({ createdAt }) => createdAt ?? []);
  expect(times).toEqual([...times].sort());
  // What the answers add up to is what the session says, apart from what no message names.
  const added = messages.reduce(
    (sum, { metadata }) => sum + ((metadata?.usage as { outputTokens?: number })?.outputTokens ?? 0),
    0,
  );
  expect(added).toBeLessThanOrEqual(countsOf(parsed).output);
});

/** Every value of a line, replaced by each of some others, or left out. */
function* drifted(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) {
    const before = (value as Record<string, unknown>)[key];
    // Two of the numbers are no times: one that is safe, and one that is not.
    for (const other of [null, 9e15, 1e21, "?", [null], { type: "hologram" }, undefined]) {
      yield Array.isArray(value)
        ? value.map((one, at) => (String(at) === key ? other : one))
        : { ...value, [key]: other };
    }
    for (const inner of drifted(before)) {
      yield Array.isArray(value)
        ? value.map((one, at) => (String(at) === key ? inner : one))
        : { ...value, [key]: inner };
    }
  }
}

test.each(agents)("%s: lines of any other shape end nothing, and each is counted", async (name, sample) => {
  const strange = [...new Set(sample.lines.flatMap((line) => [...drifted(line)].map((one) => JSON.stringify(one))))];
  const lines = [{ type: "dream" }, [], "text", 7, null].map((one) => JSON.stringify(one)).concat(strange);
  const { document, otherEntries = 0 } = sample;
  const parsed = await read(name, sample, document ? textOf(sample, lines) : `${textOf(sample, lines)}not JSON\n{"cut`);
  expect(parsed.counts.entries).toBe(sample.lines.length + otherEntries + lines.length + (document ? 0 : 1));
  expect(parsed.counts.invalid).toBeGreaterThanOrEqual(document ? 4 : 5);
  expect(parsed.sessions.length).toBeGreaterThan(0);
  for (const { messages } of parsed.sessions) {
    for (const { content, createdAt, tokenCount } of messages) {
      expect(typeof content).toBe("string");
      if (createdAt !== undefined) expect(Number.isNaN(Date.parse(createdAt))).toBe(false);
      if (tokenCount !== undefined) expect(Number.isSafeInteger(tokenCount) && tokenCount >= 0).toBe(true);
    }
  }
  const kinds = new Set(parsed.unhandled);
  expect([...kinds].some((kind) => /dream|hologram|\?|\(none\)/.test(kind)) || parsed.counts.invalid > 10).toBe(true);
});
