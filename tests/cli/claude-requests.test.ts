import { expect, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { isRequestLine } from "../../cli/adapters/claude-code/line-types.ts";
import { answered, id, said, text } from "./claude-lines.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const path = `.claude/projects/-home-ada-code-api/${id}.jsonl`;
const uuid = "5328f75a-5727-43ad-8f29-9a82841b6c9e";

/** What was sent to the model, as version 2.1.332 writes it beside the conversation. */
const requests = [
  {
    type: "api-request-shape",
    sessionId: id,
    shapeHash: "e2",
    shape: { system: [{ type: "text", text: "You are…" }] },
  },
  {
    type: "api-request-blob",
    sessionId: id,
    hash: "54",
    message: { role: "user", content: [{ type: "text", text: "Hi" }] },
  },
  { type: "api-request", sessionId: id, id: uuid, timestamp: "2026-11-27T23:12:38.315Z", params: { betas: [] } },
  { type: "tools-used", tools: ["Bash"], sessionId: id },
  {
    parentUuid: uuid,
    isSidechain: false,
    attachment: { type: "prompt_snapshot", systemPrompt: ["…"] },
    type: "attachment",
  },
  {
    parentUuid: null,
    isSidechain: true,
    attachment: { type: "prompt_snapshot", systemPrompt: ["…"] },
    type: "attachment",
  },
];

test("lines of what was sent to the model are skipped, and are no unknown types", async () => {
  const lines = [said("Hi"), ...requests, { ...requests[2], type: "api-request", moved: 1 }, answered(text("Hello"))];
  const { sessions, counts, unhandled } = await parseAll(claudeCode, await makeHome({ [path]: toLines(...lines) }));
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["Hi", "Hello"]);
  expect([counts, unhandled]).toEqual([{ entries: 9, skipped: 7, invalid: 0 }, []]);
});

test("such a line is skipped unread, unless another record may stand behind it", () => {
  const isSkipped = (line: string) => isRequestLine(Buffer.from(line));
  const [first = "", ...others] = requests.map((one) => JSON.stringify(one));
  for (const line of [first, ...others]) expect(isSkipped(line)).toBe(true);
  const record = JSON.stringify({ parentUuid: null, type: "user", message: { role: "user", content: "Hi" } });
  expect(isSkipped(first + record)).toBe(false);
  expect(isSkipped(first.slice(0, 80) + record)).toBe(false);
  expect(isSkipped(first + JSON.stringify({ type: "queue-operation" }))).toBe(false);
  expect(isSkipped(first.slice(0, 90))).toBe(false);
  expect(isSkipped(record)).toBe(false);
  expect(isSkipped(JSON.stringify(said("Hi")))).toBe(false);
});

test("a reading that only counts makes no checkpoint", async () => {
  const host = await makeHome({ [path]: toLines(said("Hi"), ...requests, answered(text("Hello"))) });
  const nothing = { begin() {}, message() {}, end() {}, reject() {}, lost() {}, folder() {}, entry() {}, skipped() {} };
  const told: number[] = [];
  const sink = { ...nothing, invalid() {}, unhandled() {}, pause: async () => {} };
  const checkpoint = ({ line }: { line: number }) => void told.push(line);
  for await (const input of claudeCode.discover(host)) {
    await claudeCode.parse(input, { ...sink, checkpoint });
    await claudeCode.parse(input, { ...sink, checkpoint, ignoresCheckpoints: true });
  }
  expect(told).toEqual([8]);
});

test("records behind a line of a request are read, whole or cut", async () => {
  const [first = ""] = requests.map((one) => JSON.stringify(one));
  const whole = JSON.stringify({ parentUuid: null, ...said("Whole") });
  const host = await makeHome({
    [path]: `${first}${whole}\n${first.slice(0, 90)}${JSON.stringify({ parentUuid: null, ...said("Cut") })}\n`,
  });
  const { sessions, invalid } = await parseAll(claudeCode, host);
  expect(sessions[0]?.messages.map(({ content }) => content)).toEqual(["Whole", "Cut"]);
  expect(invalid).toEqual(["2: a part of the line is not JSON"]);
});

test("the program's line without a subtype is a notice; what it writes where no answer was wanted is none", async () => {
  const placeholder = answered(text("No response requested."), { model: "<synthetic>" });
  const lines = [
    said("Hi"),
    { type: "system", content: "Running a hook" },
    placeholder,
    answered(text("No response requested.")),
  ];
  const { sessions, unhandled } = await parseAll(claudeCode, await makeHome({ [path]: toLines(...lines) }));
  const messages = sessions[0]?.messages.map(({ role, content, metadata }) => [
    role,
    content,
    metadata?.kind,
    metadata?.subtype,
  ]);
  expect(messages).toEqual([
    ["user", "Hi", undefined, undefined],
    ["system", "Running a hook", "notice", undefined],
    ["assistant", "No response requested.", undefined, undefined],
  ]);
  expect(unhandled).toEqual([]);
});

test("what a command changed is a patch that names the files", async () => {
  const hunks = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "+b"] }];
  const files = [
    { filePath: "/code/api/new.txt", hunks, created: true },
    { filePath: "/code/api/a.txt", hunks },
    { filePath: "/code/api/old.txt", hunks, deleted: true },
    { filePath: "/code/api/picture.png", hunks: [] },
    { hunks },
  ];
  const result = { type: "tool_result", tool_use_id: "t", content: "made" };
  const line = said([result], { toolUseResult: { stdout: "made", bashEditDiff: { files, moreFiles: 0 } } });
  const { sessions } = await parseAll(claudeCode, await makeHome({ [path]: toLines(line) }));
  const patch = "@@ -1,1 +1,1 @@\n-a\n+b";
  expect(sessions[0]?.messages[0]?.metadata?.result).toEqual({
    callId: "t",
    patch: [
      `--- /dev/null\n+++ /code/api/new.txt\n${patch}`,
      `--- /code/api/a.txt\n+++ /code/api/a.txt\n${patch}`,
      `--- /code/api/old.txt\n+++ /dev/null\n${patch}`,
    ].join("\n"),
  });
});
