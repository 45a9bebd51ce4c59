import { expect, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { qwen } from "../../cli/adapters/qwen/adapter.ts";
import { discoverAll, makeHome, parseAll, toLines, writeBelow } from "./home.ts";

const id = "0199eeee-2222-7333-8444-666666666666";
const project = ".qwen/projects/-code-web";
const minute = (at: number) => new Date(Date.parse("2026-11-01T10:00:00Z") + at * 60_000).toISOString();
const record = (type: string, at: number, more: object) => ({
  uuid: `${type}${at}`,
  sessionId: id,
  timestamp: minute(at),
  type,
  cwd: "/code/web",
  ...more,
});

/** An event of a request with this many tokens of input, of which 100 are cached. */
const event = (at: number, input: number, promptId: string, model = "qwen3-coder") =>
  record("system", at, {
    subtype: "ui_telemetry",
    systemPayload: {
      uiEvent: {
        "event.name": "qwen-code.api_response",
        "event.timestamp": minute(at),
        model,
        input_token_count: input,
        output_token_count: 10,
        cached_content_token_count: 100,
        thoughts_token_count: 1,
        prompt_id: promptId,
      },
    },
  });
const answer = (at: number, input: number) =>
  record("assistant", at, {
    message: { parts: [{ text: "Yes" }] },
    model: "qwen3-coder",
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: 10,
      cachedContentTokenCount: 100,
      thoughtsTokenCount: 1,
    },
  });
const asked = (at: number) => record("user", at, { message: { parts: [{ text: "So?" }] } });
const counts = (requests: number, inputTokens: number) => ({
  requests,
  inputTokens,
  outputTokens: requests * 10,
  cachedTokens: requests * 100,
  thoughtsTokens: requests,
});
const run = (at: number, models: object, sessionId = id) => ({
  version: 1,
  sessionId,
  timestamp: Date.parse(minute(at)),
  models,
});

const chat = [
  asked(0),
  event(1, 110, `${id}########0`),
  answer(1, 110),
  // The agent that keeps the memory has no transcript, the other one has a session of its own.
  event(2, 120, `${id}#managed-auto-memory-1#0`),
  event(3, 190, `${id}#helper-1#0`),
  asked(20),
  event(21, 130, `${id}########1`),
  answer(21, 130),
];
const files = {
  [`${project}/chats/${id}.jsonl`]: toLines(...chat),
  [`${project}/subagents/${id}/agent-helper-1.jsonl`]: toLines(asked(3), answer(3, 190)),
};
const readUsage = async (host: Host) =>
  (await parseAll(qwen, host)).sessions.find(({ sourceId }) => sourceId === id)?.ending.metadata?.usage;

test("requests of agents without a transcript count in their session, those of others in theirs", async () => {
  const host = await makeHome(files);
  const each = { outputTokens: 30, cacheReadTokens: 300, reasoningTokens: 3 };
  expect(await readUsage(host)).toEqual({ inputTokens: 10 + 20 + 30, ...each });
});

test("requests in the background count once, however many runs were recorded, and under their own models", async () => {
  const runs = [
    run(10, { "qwen3-coder": counts(3, 110 + 120 + 190), "qwen3-small": counts(2, 240) }),
    run(11, { "qwen3-coder": counts(9, 9999) }, "another"),
    // A run that goes on with a session begins with the session's events, without what was in the background before.
    run(30, { "qwen3-coder": counts(5, 110 + 120 + 190 + 130 + 150) }),
  ];
  const host = await makeHome({ ...files, ".qwen/usage_record.jsonl": toLines(...runs) });
  const each = { outputTokens: 60, cacheReadTokens: 600, reasoningTokens: 6 };
  expect(await readUsage(host)).toEqual({ inputTokens: 10 + 20 + 30 + 50 + 40, ...each });
  const session = (await parseAll(qwen, host)).sessions.find(({ sourceId }) => sourceId === id);
  expect(session?.messages.at(-1)).toMatchObject({
    content: "Requests beside the conversation.",
    metadata: { kind: "notice", model: "qwen3-small", usage: { inputTokens: 40, outputTokens: 20 } },
  });
  expect(session?.ending.model).toBe("qwen3-coder");
});

test("the record of a run that ended gives its session another stamp, and no other one", async () => {
  const other = id.replace("0199", "0200");
  const host = await makeHome({ ...files, [`${project}/chats/${other}.jsonl`]: toLines(asked(0)) });
  const before = await discoverAll(qwen, host);
  await writeBelow(host.home, ".qwen/usage_record.jsonl", toLines(run(10, {})));
  const after = await discoverAll(qwen, host);
  const changed = after.filter(({ stamp }, place) => stamp !== before[place]?.stamp);
  expect(changed.map(({ path }) => path.slice(host.home.length + 1))).toEqual([`${project}/chats/${id}.jsonl`]);
});
