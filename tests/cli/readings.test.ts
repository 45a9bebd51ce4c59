import { expect, test } from "vitest";
import type { Adapter } from "../../cli/adapters/adapter.ts";
import { adapters } from "../../cli/adapters/registry.ts";
import { makeHome, type Parsed, parseAll } from "./home.ts";
import { homes, samples } from "./samples/all.ts";
import { writeHome } from "./samples/home.ts";
import type { Counts, Sample } from "./samples/sample.ts";
import { expectSendable } from "./sendable.ts";

function findAdapter(name: string): Adapter {
  const adapter = adapters.find((one) => one.name === name);
  if (!adapter) throw new Error(`${name} is not read`);
  return adapter;
}

const read = async (name: string, { path, others = {} }: Sample, lines: string): Promise<Parsed> =>
  parseAll(findAdapter(name), await makeHome({ ...others, [path]: lines }));

/** The sample's file, with more lines or elements at its end. */
function toText({ lines, document }: Sample, more: string[] = []): string {
  const items = [...lines.map((line) => JSON.stringify(line)), ...more];
  return document ? document(items) : items.map((item) => `${item}\n`).join("");
}

function getCounts({ sessions }: Parsed): Counts {
  const messages = sessions.flatMap((session) => session.messages);
  const number = (is: (role: string | undefined, metadata: Record<string, unknown>) => boolean) =>
    messages.filter(({ role, metadata = {} }) => is(role, metadata)).length;
  const plain = (metadata: Record<string, unknown>) => !metadata.kind && !metadata.tool && !metadata.result;
  const usages = sessions.map(({ ending }) => (ending.metadata?.usage ?? {}) as Record<string, number>);
  const tokens = (name: string) => usages.reduce((sum, usage) => sum + (usage[name] ?? 0), 0);
  return {
    questions: number((role, metadata) => role === "user" && plain(metadata)),
    answers: number((role, metadata) => role === "assistant" && plain(metadata)),
    thoughts: number((_, { kind }) => kind === "thinking"),
    calls: number((_, { tool }) => tool !== undefined),
    results: number((_, { result }) => result !== undefined),
    input: tokens("inputTokens"),
    output: tokens("outputTokens"),
    cacheRead: tokens("cacheReadTokens"),
  };
}

test("every agent has a home with a small reading of its own", () => {
  const read = new Set(homes.map(([name]) => name));
  expect([...read].sort()).toEqual(adapters.map(({ name }) => name).sort());
});

test.each(homes)("%s, %s: a small reading of the same home counts the same", async (name, _, home) => {
  const parsed = await parseAll(findAdapter(name), await writeHome(home));
  const counts = getCounts(parsed);
  expect(counts).toEqual(home.count());
  expect([parsed.unhandled, parsed.invalid, parsed.rejected, parsed.lost]).toEqual([[], [], [], []]);
  // Every result answers a call of its session.
  for (const { messages } of parsed.sessions) {
    const ids = (key: string) =>
      messages.flatMap(({ metadata }) => (metadata?.[key] as { callId?: string } | undefined)?.callId ?? []);
    expect(ids("tool")).toEqual(expect.arrayContaining(ids("result")));
    expect(new Set(ids("result")).size).toBe(ids("result").length);
  }
});

test.each(samples)("%s: entries, times and tokens add up", async (name, sample) => {
  const parsed = await read(name, sample, toText(sample));
  const entries = sample.lines.length + (sample.otherEntries ?? 0);
  expect(parsed.counts.entries).toBe(entries);
  const messages = parsed.sessions[0]?.messages ?? [];
  const times = messages.flatMap(({ createdAt }) => createdAt ?? []);
  expect(times).toEqual([...times].sort());
  // What the answers add up to is what the session says, apart from what no message names.
  const added = messages.reduce(
    (sum, { metadata }) => sum + ((metadata?.usage as { outputTokens?: number })?.outputTokens ?? 0),
    0,
  );
  expect(added).toBeLessThanOrEqual(getCounts(parsed).output);
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

test.each(samples)("%s: lines of any other shape end nothing, and each is counted", async (name, sample) => {
  const strange = [...new Set(sample.lines.flatMap((line) => [...drifted(line)].map((one) => JSON.stringify(one))))];
  const lines = [{ type: "dream" }, [], "text", 7, null].map((one) => JSON.stringify(one)).concat(strange);
  const { document, otherEntries = 0 } = sample;
  const parsed = await read(name, sample, document ? toText(sample, lines) : `${toText(sample, lines)}not JSON\n{"cut`);
  expect(parsed.counts.entries).toBe(sample.lines.length + otherEntries + lines.length + (document ? 0 : 1));
  expect(parsed.counts.invalid).toBeGreaterThanOrEqual(document ? 4 : 5);
  expect(parsed.sessions.length).toBeGreaterThan(0);
  expectSendable(parsed);
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
