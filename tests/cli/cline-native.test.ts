import { expect, test } from "vitest";
import { cline } from "../../cli/adapters/cline/adapter.ts";
import { environment, id, say, start, storage, task, text } from "./cline-tasks.ts";
import { kinds, makeHome, parseAll } from "./home.ts";

const wish = text("\n# task_progress RECOMMENDED\n\nWhen starting a new task, include a todo list.\n");
const reply = (...content: object[]) => ({ role: "user", content: [...content, wish, text(environment)] });
const calls = (...made: [id: string, name: string, input: object][]) => ({
  role: "assistant",
  content: made.map(([callId, name, input]) => ({ type: "tool_use", id: callId, name, input })),
  modelInfo: { modelId: "gpt-5.2", providerId: "openai" },
});

test("results of native calls that come as texts stand with their calls, and the program's wishes are notices", async () => {
  const talk = [
    reply(text("<task>\nTidy up\n</task>")),
    calls(["c1", "execute_command", { command: "ls &&\n pwd" }], ["c2", "search_files", { regex: "x" }]),
    reply(
      text("[execute_command for 'ls &&\n pwd'] Result:\nCommand failed with exit code 3.\nOutput:\na.txt"),
      text("<feedback>\nGo on\n</feedback>"),
      text("[search_files for 'x' in '*.ts'] Result:\nFound 0 results."),
    ),
    calls(["c3", "write_to_file", { path: "b.ts" }], ["c4", "read_file", { path: "a.ts" }]),
    // The first of them got no result.
    reply(text("[read_file for 'a.ts'] Result:\nThe tool execution failed with the following error:\nNo file")),
    reply(text("[unknown_tool] Result:\nkept")),
    calls(["c5", "attempt_completion", { result: "Tidy." }]),
    reply(text("[attempt_completion] Result: Done"), text("<feedback>\nMore\n</feedback>")),
  ];
  const { sessions } = await parseAll(cline, await makeHome(task({ "api_conversation_history.json": talk })));
  const spoken = sessions[0]?.messages.filter(({ metadata }) => metadata?.kind !== "notice");
  expect(kinds(spoken)).toEqual([
    ["user", "", "Tidy up"],
    ["assistant", "call", "execute_command\nls &&\n pwd"],
    ["assistant", "call", "search_files\nx"],
    ["tool", "result", "Command failed with exit code 3.\nOutput:\na.txt"],
    ["user", "", "Go on"],
    ["tool", "result", "Found 0 results."],
    ["assistant", "call", "write_to_file\nb.ts"],
    ["assistant", "call", "read_file\na.ts"],
    ["tool", "result", "The tool execution failed with the following error:\nNo file"],
    ["tool", "result", "kept"],
    ["assistant", "", "Tidy."],
    ["user", "", "More"],
  ]);
  expect(spoken?.flatMap(({ metadata }) => metadata?.result ?? [])).toEqual([
    { callId: "c1", exitCode: 3 },
    { callId: "c2" },
    { callId: "c4", isError: true },
    {},
  ]);
  expect(sessions[0]?.messages.filter(({ metadata }) => metadata?.kind === "notice")).toHaveLength(5);
});

test("a picture that a tool returned is in its result, and one that the person sent is the person's", async () => {
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const talk = [
    calls(["c1", "read_file", { path: "a.png" }], ["c2", "browser_action", { action: "launch" }]),
    reply(
      picture,
      text("[read_file for 'a.png'] Result:\nRead"),
      text("[browser_action for 'launch'] Result:\nOpen"),
      picture,
      text("<feedback>\nLook\n</feedback>"),
      picture,
    ),
    calls(["c3", "read_file", { path: "b.png" }]),
    reply(picture),
  ];
  const { sessions } = await parseAll(cline, await makeHome(task({ "api_conversation_history.json": talk })));
  const spoken = sessions[0]?.messages.filter(({ metadata }) => metadata?.kind !== "notice");
  expect(kinds(spoken)?.filter(([, kind]) => kind !== "call")).toEqual([
    ["tool", "result", "Read\n[image: image/png, 1 KiB]"],
    ["tool", "result", "Open\n[image: image/png, 1 KiB]"],
    ["user", "", "Look\n[image: image/png, 1 KiB]"],
    ["user", "", "[image: image/png, 1 KiB]"],
  ]);
  expect(spoken?.[4]?.metadata).toEqual({ attachments: [{ type: "image/png" }] });
});

test.each([
  ["openai", 1101, 101],
  ["anthropic", 101, 101],
  ["openrouter", 1500, 1500],
])("with %s, %d input tokens beside 1000 of the cache are %d", async (providerId, tokensIn, inputTokens) => {
  const talk = [
    reply(text("<task>\nHi\n</task>")),
    { role: "assistant", content: [text("Hello")], modelInfo: { modelId: "m", providerId } },
  ];
  const used = { tokensIn, tokensOut: 7, cacheWrites: 0, cacheReads: 1000, cost: 0 };
  const request = say(1, "api_req_started", JSON.stringify(used), { modelInfo: { providerId, modelId: "m" } });
  const host = await makeHome(task({ "api_conversation_history.json": talk, "ui_messages.json": [request] }));
  const own = talk.map((message) =>
    message.role === "assistant"
      ? { ...message, ts: start + 2000, metrics: { tokens: { prompt: tokensIn, completion: 7, cached: 1000 } } }
      : message,
  );
  const untold = await makeHome(task({ "api_conversation_history.json": own }, `${storage}/tasks/${id}`));
  const usage = { inputTokens, outputTokens: 7, cacheReadTokens: 1000 };
  expect((await parseAll(cline, host)).sessions[0]?.ending.metadata).toMatchObject({ usage });
  expect((await parseAll(cline, untold)).sessions[0]?.ending.metadata).toMatchObject({ usage });
});
