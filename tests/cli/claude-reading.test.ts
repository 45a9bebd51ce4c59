import { expect, test } from "vitest";
import type { Adapter, Message } from "../../cli/adapters/adapter.ts";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { iflow } from "../../cli/adapters/claude-code/relatives.ts";
import { cowork } from "../../cli/adapters/cowork/adapter.ts";
import { specstory } from "../../cli/adapters/specstory/adapter.ts";
import { id, Lines, makeUuid, text, variedLines } from "./claude-lines.ts";
import { makeHome, type Parsed, parseAll, toLines } from "./home.ts";
import { claudeLines } from "./sessions.ts";

type Line = Record<string, unknown>;
type Counts = { user: number; assistant: number; calls: number; results: number; tokens: Record<string, number> };

/** A second reading of Claude Code's lines, which knows the format's plain facts only and shares no code with the first. */
function countLines(lines: Line[]): Counts {
  const counts: Counts = { user: 0, assistant: 0, calls: 0, results: 0, tokens: {} };
  const usages = new Map<string, Record<string, number>>();
  for (const line of lines) {
    const { attachment } = line as { attachment?: { type?: string } };
    if (attachment?.type === "queued_command") counts.user++;
    if (line.type !== "user" && line.type !== "assistant") continue;
    const message = line.message as { id?: string; content: unknown; usage?: Record<string, number> };
    const blocks = typeof message.content === "string" ? [{ type: "text" }] : (message.content as Line[]);
    for (const block of blocks) {
      if (block.type === "tool_use") counts.calls++;
      else if (block.type === "tool_result") counts.results++;
      else if (block.type === "text" || block.type === "image" || block.thinking) counts[line.type]++;
    }
    if (message.usage) usages.set(message.id ?? "", message.usage);
  }
  for (const usage of usages.values())
    for (const name of ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"])
      counts.tokens[name] = (counts.tokens[name] ?? 0) + (usage[name] ?? 0);
  return counts;
}

/** The same counts of what an adapter made of them, twice: of the messages, and of the session's total. */
function countMessages(messages: Message[], total: unknown): [Counts, Counts["tokens"]] {
  const is = (role: string) => messages.filter((one) => one.role === role && !one.metadata?.tool).length;
  const sums = (usages: Line[]): Counts["tokens"] => {
    const sum = (name: string) => usages.reduce((all, usage) => all + Number(usage[name] ?? 0), 0);
    return {
      input_tokens: sum("inputTokens"),
      output_tokens: sum("outputTokens"),
      cache_read_input_tokens: sum("cacheReadTokens"),
      cache_creation_input_tokens: sum("cacheWriteTokens"),
    };
  };
  const own = messages
    .map(({ metadata }) => metadata?.usage as Line | undefined)
    .filter((usage) => usage !== undefined);
  const counts = {
    user: is("user"),
    assistant: is("assistant"),
    calls: messages.filter(({ metadata }) => metadata?.tool).length,
    results: is("tool"),
    tokens: sums(own),
  };
  return [counts, sums([total as Line])];
}

const places: [string, Adapter, (lines: Line[]) => Record<string, string>][] = [
  ["Claude Code", claudeCode, (lines) => ({ [`.claude/projects/-p/${id}.jsonl`]: toLines(...lines) })],
  [
    "Cowork",
    cowork,
    (lines) => ({
      [`.config/Claude/local-agent-mode-sessions/o/w/local_1/.claude/projects/-p/${id}.jsonl`]: toLines(...lines),
    }),
  ],
  ["iFlow", iflow, (lines) => ({ [`.iflow/projects/-p/session-${id}.jsonl`]: toLines(...lines) })],
];

test.each(places)(
  "%s: an independent reading of the same lines comes to the same numbers",
  async (_, adapter, place) => {
    for (const lines of [variedLines(), claudeLines(id, 25)]) {
      const { sessions } = await parseAll(adapter, await makeHome(place(lines)));
      const expected = countLines(lines);
      const [counts, total] = countMessages(sessions[0]?.messages ?? [], sessions[0]?.ending.metadata?.usage);
      expect(counts).toEqual(expected);
      expect(total).toEqual(expected.tokens);
    }
  },
);

/** Values of every type that JSON has, and some that are only nearly right. */
const oddValues = [
  null,
  true,
  0,
  -1,
  1e300,
  "",
  "x",
  [],
  {},
  [[]],
  [null],
  { type: 7 },
  [{ type: "odd" }],
  { content: 1 },
];

/** Lines in which one field, at any depth, is missing or has an odd value. */
function* drifted(line: Line): Generator<unknown> {
  for (const key of Object.keys(line)) {
    const { [key]: value, ...rest } = line;
    yield rest;
    for (const odd of oddValues) yield { ...rest, [key]: odd };
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries())
        if (typeof item === "object" && item !== null)
          for (const other of drifted(item as Line)) yield { ...rest, [key]: value.with(at, other) };
    } else if (typeof value === "object" && value !== null)
      for (const other of drifted(value as Line)) yield { ...rest, [key]: other };
  }
}

test("a line that drifted in any field is read, skipped or counted, and the others are read as before", async () => {
  const make = new Lines();
  const before = make.said("Before");
  const lines: unknown[] = [before];
  for (const line of variedLines())
    for (const other of drifted(line)) {
      // A line with the id and time of another one would be that one once more.
      const isCopy = (other as Line).uuid === line.uuid && line.uuid !== undefined;
      lines.push(isCopy ? { ...(other as Line), uuid: makeUuid(1000 + lines.length) } : other);
    }
  lines.push(...oddValues, { ...make.said("After"), uuid: "last" });
  const { sessions, counts, unhandled, rejected } = await parseAll(
    claudeCode,
    await makeHome(places[0]?.[2](lines as Line[])),
  );
  expect(sessions.length).toBeLessThanOrEqual(2);
  const [session] = sessions as [Parsed["sessions"][number]];
  expect(session.messages[0]?.content).toBe("Before");
  expect(session.messages.at(-1)?.content).toBe("After");
  for (const { content, createdAt, tokenCount } of session.messages) {
    expect(typeof content).toBe("string");
    expect(createdAt === undefined || !Number.isNaN(Date.parse(createdAt))).toBe(true);
    expect(tokenCount === undefined || Number.isSafeInteger(tokenCount)).toBe(true);
  }
  expect(rejected).toEqual([]);
  expect(counts.entries).toBe(lines.length);
  expect(counts.invalid).toBeGreaterThan(100);
  expect(new Set(unhandled)).toContain("content.odd");
  expect(unhandled.every((type) => type.length < 128)).toBe(true);
});

test("lines that were cut anywhere are invalid, and none of the whole ones is lost", async () => {
  const make = new Lines();
  const line = JSON.stringify(make.answered(text("Whole")));
  const cut = Array.from({ length: line.length - 1 }, (_, at) => line.slice(0, at + 1));
  const file = [line, ...cut, line.replace("msg_1", "msg_2").replace(/aaaaaaaa/, "bbbbbbbb")].join("\n");
  const home = await makeHome({ [`.claude/projects/-p/${id}.jsonl`]: `${file}\n` });
  const { sessions, counts } = await parseAll(claudeCode, home);
  expect(sessions[0]?.messages).toHaveLength(2);
  const objectsBeforeTheCut = 2; // of no known type, so that they are skipped
  expect(counts).toEqual({
    entries: line.length + 1 + objectsBeforeTheCut,
    skipped: objectsBeforeTheCut,
    invalid: line.length - 1,
  });
});

test("SpecStory: an independent reading of a transcript comes to the same numbers, whatever line of it is missing", async () => {
  const turn = (number: number) => [
    `_**User (2026-11-01 10:0${number}:00Z)**_`,
    "",
    `Question ${number}`,
    "",
    "---",
    "",
    `_**Agent (m 2026-11-01 10:0${number}:10Z)**_`,
    "",
    '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>',
    "<summary>Tool use: **Bash**</summary>",
    "",
    "```text",
    "_**User (quoted)**_",
    "```",
    "</details></tool-use>",
    "",
    "---",
    "",
  ];
  const lines = [`<!-- Claude Code Session ${id} (2026-11-01 10:00:00Z) -->`, "", ...[1, 2, 3].flatMap(turn)];
  const read = async (kept: string[]) => {
    const { sessions } = await parseAll(specstory, await makeHome({ ".specstory/history/x.md": kept.join("\n") }));
    return sessions.flatMap(({ messages }) => messages.map(({ role }) => role));
  };
  const count = (kept: string[]) => kept.flatMap((line) => (/^_\*\*(User|Agent) \((?:m )?2/.exec(line) ?? []).slice(1));
  const expected = (kept: string[]) => count(kept).map((name) => (name === "User" ? "user" : "assistant"));
  expect(await read(lines)).toEqual(expected(lines));
  for (let at = 1; at < lines.length; at++) {
    const kept = lines.toSpliced(at, 1);
    const roles = await read(kept);
    expect(roles.length, `without line ${at}`).toBeGreaterThanOrEqual(4);
    if (!/^(?:<|```|---|_)/.test(lines[at] ?? "")) expect(roles.length).toBeGreaterThanOrEqual(5);
  }
});
