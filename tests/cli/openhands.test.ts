import { expect, test } from "vitest";
import { openhands } from "../../cli/adapters/openhands/adapter.ts";
import { discoverAll, makeHome, parseAll, told, writeBelow } from "./home.ts";

const folder = ".openhands/conversations/0123456789abcdef0123456789abcdef";
const id = "01234567-89ab-cdef-0123-456789abcdef";
/** The machine's time without its zone, as OpenHands writes it. */
const local = (seconds: number) => `2026-11-01T10:00:${String(seconds).padStart(2, "0")}.500000`;
const at = (seconds: number) => new Date(local(seconds)).toISOString();
const text = (value: string) => ({ type: "text", text: value });
const event = (kind: string, seconds: number, more: object) => ({
  kind,
  id: `e${seconds}`,
  timestamp: local(seconds),
  ...more,
});
const said = (seconds: number, role: string, content: object[], more: object = {}) =>
  event("MessageEvent", seconds, { source: role, llm_message: { role, content }, ...more });
const used = (response_id: string, completion_tokens: number) => ({
  model: "claude-opus-4-5",
  prompt_tokens: 100,
  completion_tokens,
  cache_read_tokens: 60,
  cache_write_tokens: 10,
  reasoning_tokens: 2,
  response_id,
});
const state = {
  agent: { llm: { model: "litellm_proxy/claude-opus-4-5" } },
  workspace: { kind: "LocalWorkspace", working_dir: "/code/web" },
  stats: {
    usage_to_metrics: {
      agent: {
        token_usages: [used("r1", 7), used("r2", 5)],
        costs: [{ cost: 0.25 }, { cost: 0.5 }],
      },
      condenser: { token_usages: [used("r3", 3)], costs: [] },
    },
  },
};
const events = [
  event("SystemPromptEvent", 0, { source: "agent" }),
  said(1, "user", [text("List."), { type: "image", image_urls: ["data:image/png;base64,AAAA"] }], {
    extended_content: [text("A skill's words.")],
  }),
  event("ActionEvent", 2, {
    thought: [text("I look.")],
    reasoning_content: "ls",
    thinking_blocks: [{ type: "thinking", thinking: "ls" }],
    tool_name: "terminal",
    tool_call_id: "c1",
    tool_call: { id: "c1", name: "terminal", arguments: '{"command":"ls"}' },
    llm_response_id: "r1",
  }),
  event("ObservationEvent", 3, {
    tool_call_id: "c1",
    observation: { kind: "TerminalObservation", content: [text("a.ts")], exit_code: 1, is_error: true },
  }),
  event("ActionEvent", 4, {
    thought: [],
    tool_name: "edit",
    tool_call_id: "c2",
    action: { path: "a" },
    llm_response_id: "r1",
  }),
  event("UserRejectObservation", 5, { tool_call_id: "c2", rejection_reason: "No." }),
  event("Condensation", 6, { summary: "They listed.", llm_response_id: "r3" }),
  said(7, "assistant", [text("One.")], { llm_response_id: "r2" }),
  event("ConversationErrorEvent", 8, { code: "LLMError", detail: "busy" }),
  event("Hologram", 9, {}),
  said(10, "narrator", [text("Meanwhile.")]),
];
const files = (list: object[]) =>
  Object.fromEntries(
    list.map((one, index) => [
      `${folder}/events/event-${String(index).padStart(5, "0")}-aaaa${index}000.json`,
      JSON.stringify(one),
    ]),
  );

test("a conversation has its turns, calls with results, times of the machine, and each response's tokens once", async () => {
  const host = await makeHome({ ...files(events), [`${folder}/base_state.json`]: JSON.stringify(state) });
  const { sessions, counts, unhandled } = await parseAll(openhands, host);
  expect(told(sessions[0]?.messages)).toEqual([
    ["user", "List.", undefined],
    ["user", "[image: image/png, 1 KiB]", undefined],
    ["user", "A skill's words.", "notice"],
    ["assistant", "ls", "thinking"],
    ["assistant", "I look.", undefined],
    ["assistant", "terminal\nls", undefined],
    ["tool", "a.ts", { callId: "c1", isError: true, exitCode: 1 }],
    ["assistant", "edit\na", undefined],
    ["tool", "Action rejected: No.", { callId: "c2", isError: true }],
    ["system", "They listed.", "notice"],
    ["assistant", "One.", undefined],
    ["system", "LLMError: busy", "notice"],
  ]);
  expect(sessions[0]?.messages[3]).toEqual({
    role: "assistant",
    content: "ls",
    createdAt: at(2),
    tokenCount: 7,
    metadata: {
      kind: "thinking",
      model: "claude-opus-4-5",
      costUsd: 0.25,
      requestId: "r1",
      uuid: "e2",
      usage: { inputTokens: 30, outputTokens: 7, cacheReadTokens: 60, cacheWriteTokens: 10, reasoningTokens: 2 },
    },
  });
  expect(sessions[0]).toMatchObject({
    source: "openhands",
    sourceId: id,
    ending: {
      model: "claude-opus-4-5",
      project: "web",
      createdAt: at(0),
      metadata: { cwd: "/code/web", usage: { inputTokens: 90, outputTokens: 15, cacheReadTokens: 180 } },
    },
  });
  expect([counts, unhandled]).toEqual([{ entries: 12, skipped: 4, invalid: 0 }, ["Hologram", "role.narrator"]]);
});

test("an event that is cut off is counted, and a new one gives the conversation another stamp", async () => {
  const host = await makeHome({
    ...files(events.slice(0, 2)),
    [`${folder}/base_state.json`]: '{"id":"own',
    [`${folder}/events/event-00002-bbbb0000.json`]: '{"kind":"Mess',
    [`${folder}/events/notes.txt`]: "no event",
  });
  const { sessions, counts } = await parseAll(openhands, host);
  expect([sessions[0]?.sourceId, sessions[0]?.messages.length, counts.invalid]).toEqual([id, 3, 2]);
  const [before] = await discoverAll(openhands, host);
  await writeBelow(host.home, `${folder}/events/event-00003-cccc0000.json`, JSON.stringify(events[7]));
  const [after] = await discoverAll(openhands, host);
  expect(after?.stamp).not.toBe(before?.stamp);
  expect((await parseAll(openhands, host)).sessions[0]?.messages).toHaveLength(4);
});

test("events and a state of any other shape end nothing", async () => {
  const others = [null, 9e15, 1e21, "?", [null], { type: "hologram" }];
  const replaced = (value: object) =>
    Object.keys(value).flatMap((key) => others.map((other) => ({ ...value, [key]: other }) as object));
  const nested = (events as { llm_message?: object; observation?: object }[]).flatMap((one): object[] => [
    ...replaced(one.llm_message ?? {}).map((inner) => ({ ...one, llm_message: inner })),
    ...replaced(one.observation ?? {}).map((inner) => ({ ...one, observation: inner })),
  ]);
  const strange = [...events, ...events.flatMap(replaced), ...nested];
  const odd = { stats: { usage_to_metrics: { agent: { token_usages: others, costs: others } } } };
  const cases: [events: object[], state: object][] = [
    [strange, odd],
    [events, {}],
  ];
  for (const [list, state] of cases) {
    const host = await makeHome({ ...files(list), [`${folder}/base_state.json`]: JSON.stringify(state) });
    const { sessions, counts } = await parseAll(openhands, host);
    expect([sessions.length, counts.entries, counts.invalid]).toEqual([1, list.length + 1, 0]);
  }
});
