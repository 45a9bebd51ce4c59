import { describe, expect, test } from "vitest";
import type { LedgerMessage, LedgerTrace } from "#lib/ledger/part";
import { readTraceUsage } from "#lib/ledger/usage/reading";

const at = new Date("2026-11-02T10:00:00Z");
const trace: LedgerTrace = {
  userId: "u",
  id: "t",
  source: "claude-code",
  sourceId: "s",
  model: null,
  title: null,
  derivedTitle: null,
  project: null,
  machine: null,
  createdAt: at,
  activityAt: at,
  storedAt: at,
  projectId: null,
  metadata: null,
};

/** What messages with this metadata used, without what none of them tells. */
function usedBy(
  messages: (Partial<LedgerMessage> | Record<string, unknown>)[],
  { from = {}, whole = false }: { from?: Partial<LedgerTrace>; whole?: boolean } = {},
) {
  const reading = readTraceUsage({ ...trace, ...from });
  for (const [position, one] of messages.entries()) {
    const given = whole ? one : { metadata: one };
    reading.see({
      position,
      role: "assistant",
      content: "",
      tokenCount: null,
      createdAt: null,
      metadata: null,
      ...given,
    });
  }
  return { rows: reading.found().used, openFrom: reading.openFrom?.(messages.length) };
}

const countTokens = (...args: Parameters<typeof usedBy>) =>
  usedBy(...args).rows.map(({ position, tokens: t }) => [
    position,
    `${t.input}+${t.cacheRead} w${t.cacheWrite5m}/${t.cacheWrite1h} → ${t.output} (${t.reasoning})`,
  ]);

describe("what a message says that it used", () => {
  test.each<[string, Record<string, unknown>, string]>([
    [
      "the vocabulary",
      {
        usage: {
          inputTokens: 1,
          cacheReadTokens: 2,
          cacheWrite5mTokens: 3,
          cacheWrite1hTokens: 4,
          cacheWriteTokens: 7,
          outputTokens: 5,
          reasoningTokens: 6,
        },
      },
      "1+2 w3/4 → 5 (6)",
    ],
    ["cache writes of an unknown time as five minutes", { usage: { cacheWriteTokens: 9 } }, "0+0 w9/0 → 0 (0)"],
    [
      "the rest of a sum as five minutes",
      { usage: { cacheWriteTokens: 9, cacheWrite1hTokens: 4 } },
      "0+0 w5/4 → 0 (0)",
    ],
    [
      "Claude Code's own lines",
      {
        type: "assistant",
        message: {
          id: "msg_1",
          model: "claude-opus-4-5",
          usage: {
            input_tokens: 3,
            cache_read_input_tokens: 400,
            cache_creation_input_tokens: 30,
            cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
            output_tokens: 50,
          },
        },
      },
      "3+400 w10/20 → 50 (0)",
    ],
    [
      "OpenAI's chat, whose input includes what was cached",
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 7,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
      "40+60 w0/0 → 7 (2)",
    ],
    [
      "Codex",
      { usage: { input_tokens: 100, cached_input_tokens: 90, output_tokens: 5, reasoning_output_tokens: 4 } },
      "10+90 w0/0 → 5 (4)",
    ],
    [
      "cached tokens beside the input",
      { usage: { prompt_tokens: 10, cached_tokens: 4, completion_tokens: 1 } },
      "6+4 w0/0 → 1 (0)",
    ],
  ])("%s", (_, metadata, expected) => {
    expect(countTokens([metadata])).toEqual([[0, expected]]);
  });

  test("without usage its own count is what it produced, and without both it has none", () => {
    expect(countTokens([{ tokenCount: 8 }, { tokenCount: 0 }, { content: "x" }], { whole: true })).toEqual([
      [0, "0+0 w0/0 → 8 (0)"],
    ]);
  });

  test.each(["user", "tool", "system", "developer"])(
    "without usage a model has read what is of the role %s",
    (role) => {
      expect(countTokens([{ role, tokenCount: 8 }], { whole: true })).toEqual([[0, "8+0 w0/0 → 0 (0)"]]);
      expect(countTokens([{ role: null, tokenCount: 8 }], { whole: true })).toEqual([[0, "0+0 w0/0 → 8 (0)"]]);
    },
  );

  test("of a usage that nobody here knows, its own count is what it produced", () => {
    const usage = { promptTokens: 9, totalTokens: 17 };
    expect(countTokens([{ tokenCount: 8, metadata: { usage } }], { whole: true })).toEqual([[0, "0+0 w0/0 → 8 (0)"]]);
    const nothing = { usage: { outputTokens: 0 } };
    expect(countTokens([{ tokenCount: 8, metadata: nothing }], { whole: true })).toEqual([]);
  });

  test("what was replayed from another session counts nothing", () => {
    expect(countTokens([{ replayed: true, usage: { outputTokens: 5 } }])).toEqual([]);
    expect(countTokens([{ tokenCount: 5, metadata: { replayed: true } }], { whole: true })).toEqual([]);
  });

  test("hostile values count as nothing, or as the most that a column holds", () => {
    const values = [Number.NaN, -5, "7", null, {}, Number.POSITIVE_INFINITY];
    expect(usedBy(values.map((outputTokens) => ({ usage: { outputTokens } }))).rows).toEqual([]);
    expect(countTokens([{ usage: { outputTokens: 1e300, inputTokens: 1.4 } }])).toEqual([
      [0, "1+0 w0/0 → 2147483647 (0)"],
    ]);
    expect(usedBy([{ usage: [], costUsd: 1e300, model: "\0" }, { usage: "x" }, { message: 5 }]).rows).toEqual([]);
  });

  test("a recorded cost is kept in whole nano-dollars, also without tokens", () => {
    expect(usedBy([{ costUsd: 0.1 + 0.2 }, { costUSD: 0.000_000_001_4 }]).rows.map((one) => one.recordedNano)).toEqual([
      300_000_000n,
      1n,
    ]);
  });
});

describe("an answer over several messages", () => {
  const raw = (id: string, output: number, input = 10) => ({
    message: { id, usage: { input_tokens: input, output_tokens: output } },
  });

  test("that a file repeats counts once, with the most of each", () => {
    expect(countTokens([raw("a", 1), raw("a", 40), raw("b", 5), raw("a", 40, 12)])).toEqual([
      [0, "12+0 w0/0 → 40 (0)"],
      [2, "10+0 w0/0 → 5 (0)"],
    ]);
    const repeated = { requestId: "r", usage: { inputTokens: 10, outputTokens: 3 } };
    const further = { requestId: "r", usage: { inputTokens: 10, outputTokens: 8 } };
    expect(countTokens([repeated, repeated, further])).toEqual([[0, "10+0 w0/0 → 8 (0)"]]);
  });

  test("to which a later one adds is one answer with the sum", () => {
    const told = [{ inputTokens: 10, outputTokens: 3 }, { outputTokens: 5 }].map((usage) => ({
      requestId: "r",
      usage,
    }));
    expect(countTokens(told)).toEqual([[0, "10+0 w0/0 → 8 (0)"]]);
  });

  test("is several where one id stands for several calls, in agents that are known for it or with other input", () => {
    const calls = [10, 25].map((inputTokens) => ({ requestId: "r", usage: { inputTokens, outputTokens: 3 } }));
    expect(countTokens(calls)).toHaveLength(2);
    const same = [
      { requestId: "r", uuid: "1", usage: { outputTokens: 3 } },
      { requestId: "r", uuid: "2", usage: { outputTokens: 3 } },
    ];
    expect(countTokens(same, { from: { source: "cursor" } })).toHaveLength(2);
    expect(countTokens(same, { from: { source: "copilot-cli" } })).toHaveLength(2);
    expect(new Set(usedBy(same, { from: { source: "cursor" } }).rows.map(({ key }) => key)).size).toBe(2);
  });

  test("may go on when the session grows: it is seen again from its first message on", () => {
    expect(usedBy([{}, raw("a", 1), raw("b", 1), raw("b", 2), {}]).openFrom).toBe(1);
    const many = Array.from({ length: 12 }, (_, n) => raw(`r${n}`, 1));
    expect(usedBy(many).openFrom).toBe(4);
    // Nor is a part of an answer seen again without its beginning.
    expect(usedBy([raw("a", 1), raw("b", 1), ...many, raw("b", 2)]).openFrom).toBe(1);
    expect(usedBy([{ usage: { outputTokens: 1 } }]).openFrom).toBeUndefined();
  });

  test("has the same key in a session that repeats it, and another one where it used something else", () => {
    const [one] = usedBy([{ requestId: "req_1", usage: { inputTokens: 4, outputTokens: 2 } }]).rows;
    const [other] = usedBy([
      {},
      { requestId: "req_1", message: { id: "m", usage: { input_tokens: 4, output_tokens: 2 } } },
    ]).rows;
    const [more] = usedBy([{ requestId: "req_1", usage: { inputTokens: 5, outputTokens: 2 } }]).rows;
    expect(one?.key).toBe(other?.key);
    expect(more?.key).not.toBe(one?.key);
    expect(usedBy([{ usage: { outputTokens: 2 } }]).rows[0]?.key).toBeUndefined();
  });
});

describe("a branch", () => {
  const usage = { outputTokens: 1 };
  const branches = (own: string | undefined, ...told: (string | undefined)[]) =>
    usedBy(
      told.map((branch) => ({ usage, ...(branch && { branch }) })),
      { from: { metadata: own ? { branch: own } : null } },
    ).rows.map(({ branch }) => branch);

  test("is carried on from the message that names it", () => {
    expect(branches("main", undefined, "a", undefined, "b")).toEqual([undefined, "a", "a", "b"]);
  });

  test("before the first one is that one, where the session's own is the last", () => {
    expect(branches("b", undefined, "a", undefined, "b")).toEqual(["a", "a", "a", "b"]);
    expect(branches(undefined, undefined, undefined)).toEqual([undefined, undefined]);
  });
});

describe("what only messages before tell", () => {
  test("a model answers until another one does, also where it spoke without usage", () => {
    const usage = { inputTokens: 1 };
    const { rows } = usedBy([
      { model: "claude-opus-4-8" },
      { usage, requestId: "a" },
      { usage, requestId: "b" },
      { usage, requestId: "c", model: "claude-haiku-4-5" },
      { model: "claude-opus-4-8", replayed: true, usage },
      { usage, requestId: "d" },
    ]);
    expect(rows.map(({ model }) => model)).toEqual([
      "claude-opus-4-8",
      "claude-opus-4-8",
      "claude-haiku-4-5",
      "claude-opus-4-8",
    ]);
    expect(usedBy([{ usage }]).rows.map(({ model }) => model)).toEqual([undefined]);
  });

  test("what an answer's later messages add belongs to its request, whose tier and context it has; the user's words end it", () => {
    const request = { usage: { inputTokens: 250_000, outputTokens: 8 }, requestId: "a", speed: "fast" };
    const more = { usage: { outputTokens: 404 } };
    expect(countTokens([request, { tool: "Bash" }, more, more])).toEqual([[0, "250000+0 w0/0 → 816 (0)"]]);
    const spoken = [request, { role: "user", metadata: {} }, more].map((one) =>
      "metadata" in one ? one : { metadata: one },
    );
    expect(countTokens(spoken, { whole: true })).toEqual([
      [0, "250000+0 w0/0 → 8 (0)"],
      [2, "0+0 w0/0 → 404 (0)"],
    ]);
    expect(countTokens([more, more])).toHaveLength(2); // agents that tell the output alone
    expect(countTokens([request, { ...more, model: "another" }])).toHaveLength(2);
    // A count of tokens without usage is a message's own.
    const counted = [{ metadata: request }, { tokenCount: 9, metadata: {} }];
    expect(countTokens(counted, { whole: true })).toHaveLength(2);
  });
});

test("an answer is compared with the eight before it of the same id, so that a session's time does not grow with its square", () => {
  const answers = (count: number) =>
    Array.from({ length: count }, (_, place) => ({ requestId: "r", usage: { inputTokens: place + 1 } }));
  const first = { requestId: "r", usage: { inputTokens: 1 } };
  expect(usedBy([...answers(8), first]).rows).toHaveLength(8);
  const { rows } = usedBy([...answers(9), first]);
  expect(rows).toHaveLength(10);
  expect(rows[9]?.key).toBe(rows[0]?.key); // so that one of the two counts
});
