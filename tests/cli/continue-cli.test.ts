import { expect, test } from "vitest";
import { continueDev } from "../../cli/adapters/continue/adapter.ts";
import { makeHome, parseAll } from "./home.ts";

const answered = (content: string, usage: object) => ({ message: { role: "assistant", content, usage } });
const read = async (history: object[], usage: object = {}) => {
  const host = await makeHome({
    ".continue/sessions/s.json": JSON.stringify({
      sessionId: "s",
      title: "T",
      workspaceDirectory: "/a",
      history,
      usage,
    }),
    ".continue/sessions/sessions.json": JSON.stringify([{ sessionId: "s", dateCreated: "1793527200000" }]),
  });
  return (await parseAll(continueDev, host)).sessions[0];
};

test("a session of Continue's CLI has the model and tokens of each answer, and its cost as a whole", async () => {
  const cache = { cached_tokens: 1000, cache_read_tokens: 1000, cache_write_tokens: 33 };
  const session = await read(
    [
      { message: { role: "user", content: "Hi" } },
      // With Anthropic's API the prompt's tokens are beside those of the cache, also where they are more.
      answered("One.", {
        prompt_tokens: 5000,
        completion_tokens: 43,
        prompt_tokens_details: cache,
        model: "claude-sonnet-4-5",
        cost_cents: 0,
      }),
      answered("Two.", {
        prompt_tokens: 1101,
        completion_tokens: 9,
        prompt_tokens_details: { cached_tokens: 1000 },
        completion_tokens_details: { reasoning_tokens: 4 },
        model: "gpt-5.2",
      }),
    ],
    { totalCost: 0.0012, promptTokens: 1, completionTokens: 1 },
  );
  expect(session?.messages.map(({ content, metadata }) => [content, metadata])).toEqual([
    ["Hi", undefined],
    [
      "One.",
      {
        model: "claude-sonnet-4-5",
        usage: { inputTokens: 5000, outputTokens: 43, cacheReadTokens: 1000, cacheWriteTokens: 33 },
      },
    ],
    [
      "Two.",
      {
        model: "gpt-5.2",
        usage: { inputTokens: 101, outputTokens: 9, cacheReadTokens: 1000, reasoningTokens: 4 },
      },
    ],
  ]);
  expect(session?.ending).toMatchObject({
    model: "gpt-5.2",
    metadata: { costs: [{ startedAt: "2026-11-01T10:00:00.000Z", costUsd: 0.0012 }] },
  });
});

test("a command that failed in Continue's CLI has its exit code", async () => {
  const output = [{ content: "Error executing tool Bash: Error (exit code 3): no" }];
  const call = { id: "1", type: "function", function: { name: "Bash", arguments: "{}" } };
  const toolCallStates = [{ toolCallId: "1", toolCall: call, status: "errored", output }];
  const session = await read([{ message: { role: "assistant", content: "", toolCalls: [call] }, toolCallStates }]);
  expect(session?.messages[1]?.metadata?.result).toEqual({ callId: "1", isError: true, exitCode: 3 });
});

test("what a fork copied counts in the session that has it, and where none has it in the fork", async () => {
  const said = (content: string, prompt: number) =>
    answered(content, { prompt_tokens: prompt, completion_tokens: 5, model: "gpt-5.2" });
  const ask = { message: { role: "user", content: "So?" } };
  const [first, second, third] = [said("One.", 10), said("Two.", 20), said("Three.", 10)];
  const file = (sessionId: string, history: object[], promptTokens: number, answers: number) =>
    JSON.stringify(
      { sessionId, history, usage: { promptTokens, completionTokens: 5 * answers, totalCost: 0 } },
      null,
      2,
    );
  const fork = { ".continue/sessions/b.json": file("b", [ask, first, ask, second, ask, third], 10, 1) };
  const list = ["a", "b", "c"].map((sessionId, place) => ({ sessionId, dateCreated: String(1793527200000 + place) }));
  const dates = { ".continue/sessions/sessions.json": JSON.stringify(list) };
  const original = { ".continue/sessions/a.json": file("a", [ask, first, ask, second], 30, 2) };
  // A fork that only just began has no answers of its own.
  const again = { ".continue/sessions/c.json": file("c", [ask, first, ask, second, ask, third], 0, 0) };
  const usages = async (files: Record<string, string>) =>
    (await parseAll(continueDev, await makeHome({ ...dates, ...files }))).sessions
      .sort((a, b) => a.sourceId.localeCompare(b.sourceId))
      .map(({ sourceId, ending: { metadata = {} } }) => [sourceId, metadata.forkedFrom, metadata.usage]);
  expect(await usages({ ...original, ...fork, ...again })).toEqual([
    ["a", undefined, { inputTokens: 30, outputTokens: 10 }],
    ["b", "a", { inputTokens: 10, outputTokens: 5 }],
    ["c", "b", undefined],
  ]);
  expect(await usages(fork)).toEqual([["b", undefined, { inputTokens: 40, outputTokens: 15 }]]);
});
