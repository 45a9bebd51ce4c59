import { expect, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { id, Lines, text } from "./claude-lines.ts";
import { makeHome, type Parsed, parseAll, toLines } from "./home.ts";

const path = `.claude/projects/-home-ada-code-api/${id}.jsonl`;
const parse = async (...lines: unknown[]) => parseAll(claudeCode, await makeHome({ [path]: toLines(...lines) }));

const request = (type: string, [input, output]: [number, number], more: object = {}) => ({
  type,
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  ...more,
});
const usage = (input: number, output: number, ...iterations: object[]) => ({
  usage: {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    iterations,
  },
});
const advisor = (tokens: [number, number]) => request("advisor_message", tokens, { model: "claude-opus-5" });

/** What messages tell of models and tokens, as "content: model input→output". */
const toldBy = ({ sessions }: Parsed) =>
  sessions[0]?.messages.flatMap(({ content, metadata }) => {
    const { inputTokens = 0, outputTokens = 0 } = (metadata?.usage ?? {}) as Record<string, number>;
    const model = metadata?.model ? ` ${metadata.model}` : "";
    return metadata?.usage || model ? [`${content}:${model} ${inputTokens}→${outputTokens}`] : [];
  });
const getTotal = ({ sessions }: Parsed) => sessions[0]?.ending.metadata?.usage;

test("what an advisor said is a result, with its model and tokens; the answer has its own requests, each once", async () => {
  const make = new Lines();
  const told = usage(30, 12, request("message", [10, 5]), advisor([900, 70]), request("message", [20, 7]));
  const call = { type: "server_tool_use", id: "s1", name: "advisor", input: {} };
  const advice = {
    type: "advisor_tool_result",
    tool_use_id: "s1",
    content: { type: "advisor_result", text: "Drain." },
  };
  const first = { requestId: "req_1" };
  const parsed = await parse(
    make.said("Plan it"),
    ...[text("I ask."), [call], [advice], text("In steps.")].map((content) => make.answered(content, told, first)),
  );
  expect(toldBy(parsed)).toEqual([
    "I ask.: claude-opus-4-5 30→12",
    "Drain.: claude-opus-5 900→70",
    "In steps.: claude-opus-4-5 0→0",
  ]);
  const messages = parsed.sessions[0]?.messages ?? [];
  expect(messages[1]?.metadata?.requests).toMatchObject([{ inputTokens: 10 }, { inputTokens: 20 }]);
  expect(messages[3]).toMatchObject({ role: "tool", metadata: { result: { callId: "s1" }, requestId: "req_1" } });
  expect(getTotal(parsed)).toEqual({ inputTokens: 930, outputTokens: 82 });
  expect([parsed.sessions[0]?.ending.model, parsed.unhandled]).toEqual(["claude-opus-4-5", []]);
});

test("another model that said nothing of its own has a notice behind the answer; compactions are the answer's", async () => {
  const make = new Lines();
  const told = usage(20, 7, request("compaction", [100, 3]), advisor([900, 70]), request("message", [20, 7]));
  const parsed = await parse(
    make.said("Plan it"),
    make.answered(text("Done."), told),
    make.said("More"),
    make.answered(text("Also."), { id: "msg_2", ...usage(5, 5) }),
  );
  expect(toldBy(parsed)).toEqual([
    "Done.: claude-opus-4-5 120→10",
    "Answered by claude-opus-5, too: claude-opus-5 900→70",
    "Also.: claude-opus-4-5 5→5",
  ]);
});

test.each([
  ["within the answer's numbers", usage(30, 12), "20→7"],
  ["beside them", usage(20, 7), "20→7"],
])("a model that declined is priced by its own name, whether its tokens are %s", async (_, { usage: whole }, own) => {
  const iterations = [
    request("message", [10, 5], { model: "claude-fable-5" }),
    request("fallback_message", [20, 7], { model: "claude-opus-4-5" }),
  ];
  const make = new Lines();
  const parsed = await parse(make.said("Hi"), make.answered(text("Hello."), { usage: { ...whole, iterations } }));
  expect(toldBy(parsed)).toEqual([
    `Hello.: claude-opus-4-5 ${own}`,
    "Answered by claude-fable-5, too: claude-fable-5 10→5",
  ]);
});

const plain = (input: number, output: number, more: object = {}) => ({
  usage: { input_tokens: input, output_tokens: output },
  ...more,
});

test("requests of a gateway that uses one id for all are told apart by what was said and what they read", async () => {
  const make = new Lines();
  const call = (name: string) => [{ type: "tool_use", id: name, name: "Bash", input: { command: name } }];
  const reused = { requestId: "req_1" };
  const parsed = await parse(
    make.said("One"),
    make.answered(text("Looking"), plain(10, 1), reused),
    make.answered(call("a"), plain(10, 5), reused), // the same request, further on
    make.result("a", "yes"),
    make.answered(call("b"), plain(10, 9), reused), // still the same: its second call, started before the first one's result
    make.result("b", "no"),
    make.answered(text("Found"), plain(40, 3), reused),
    make.said("Two"),
    make.answered(text("Again"), plain(40, 3), reused),
  );
  expect(getTotal(parsed)).toEqual({ inputTokens: 90, outputTokens: 15 });
  const ids = parsed.sessions[0]?.messages.flatMap(({ metadata }) => metadata?.requestId ?? []);
  expect(ids).toEqual(["req_1", "req_1~2", "req_1~3"]);
});

test("requests of two models are two, also where a gateway gives them one id and nobody speaks between them", async () => {
  const make = new Lines();
  const reused = { requestId: "req_1" };
  const parsed = await parse(
    make.said("One"),
    make.answered(text("Looking"), plain(10, 1), reused),
    make.answered(text("Found"), plain(40, 5, { model: "claude-opus-5" }), reused),
  );
  expect(getTotal(parsed)).toEqual({ inputTokens: 50, outputTokens: 6 });
});

test("lines without any id are of one request while they read the same and nobody speaks", async () => {
  const make = new Lines();
  const none = (input: number, output: number) => plain(input, output, { id: undefined });
  const parsed = await parse(
    make.said("One"),
    make.answered(text("Looking"), none(10, 5)),
    make.answered(text("Found"), none(10, 5)),
    make.answered(text("More"), none(30, 5)),
    make.said("Two"),
    make.answered(text("Again"), none(30, 5)),
  );
  expect(getTotal(parsed)).toEqual({ inputTokens: 70, outputTokens: 15 });
});
