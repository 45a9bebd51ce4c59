import { expect, test } from "vitest";
import { claudeCode } from "../../cli/adapters/claude-code/adapter.ts";
import { id, Lines } from "./claude-lines.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const path = `.claude/projects/-home-ada-code-api/${id}.jsonl`;

/**
 * The `type` of each member of `BetaContentBlock` and `BetaContentBlockParam` in `resources/beta/messages/messages.d.ts` of
 * `@anthropic-ai/sdk` 1.14.0, which with 29 MB is too large to be installed for a test.
 */
const blockTypes =
  `text thinking redacted_thinking tool_use server_tool_use web_search_tool_result web_fetch_tool_result
  advisor_tool_result code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result
  tool_search_tool_result mcp_tool_use mcp_tool_result container_upload compaction fallback mcp_tool_listing image document
  search_result tool_result tool_addition tool_removal`.split(/\s+/);

/** And the types of what their `content` may hold. */
const partTypes = `text image document search_result tool_reference browser_state web_search_result
  web_search_tool_result_error web_fetch_result web_fetch_tool_result_error advisor_result advisor_redacted_result
  advisor_tool_result_error code_execution_result encrypted_code_execution_result code_execution_tool_result_error
  bash_code_execution_result bash_code_execution_tool_result_error code_execution_output bash_code_execution_output
  text_editor_code_execution_view_result text_editor_code_execution_create_result
  text_editor_code_execution_str_replace_result text_editor_code_execution_tool_result_error
  tool_search_tool_search_result tool_search_tool_result_error`.split(/\s+/);

const parse = async (...blocks: object[]) => {
  const make = new Lines();
  const lines = blocks.map((block, at) => make.answered([block], { id: `msg_${at}` }));
  return parseAll(claudeCode, await makeHome({ [path]: toLines(make.said("Hi"), ...lines) }));
};

test("every block type of the API's SDK is known, and so is what a result may hold", async () => {
  const parts = partTypes.map((type) => ({ type: "tool_result", tool_use_id: "t", content: [{ type }] }));
  const { unhandled } = await parse(...blockTypes.map((type) => ({ type })), ...parts);
  expect(unhandled).toEqual([]);
  expect((await parse({ type: "novel" }, { type: "tool_result", content: { type: "constructor" } })).unhandled).toEqual(
    ["content.novel", "tool_result.constructor"],
  );
});

test.each<[string, string, unknown, string, object]>([
  ["advice", "advisor", { type: "advisor_result", text: "Drain it first." }, "Drain it first.", {}],
  [
    "a refused advice",
    "advisor",
    { type: "advisor_tool_result_error", error_code: "max_uses_exceeded" },
    "max_uses_exceeded",
    { isError: true },
  ],
  [
    "what a command of the API's printed",
    "bash_code_execution",
    { type: "bash_code_execution_result", stdout: "3\n", stderr: "slow", return_code: 2, content: [] },
    "3\n\nslow",
    { exitCode: 2 },
  ],
  [
    "a file that code made",
    "code_execution",
    {
      type: "code_execution_result",
      stdout: "",
      stderr: "",
      return_code: 0,
      content: [{ type: "code_execution_output", file_id: "file_1" }],
    },
    "[file: file_1]",
    { exitCode: 0 },
  ],
  [
    "the tools that were found",
    "tool_search",
    { type: "tool_search_tool_search_result", tool_references: [{ type: "tool_reference", tool_name: "grep" }] },
    "grep",
    {},
  ],
  [
    "a page that was fetched",
    "web_fetch",
    {
      type: "web_fetch_result",
      url: "https://example.org/",
      content: { type: "document", source: { type: "text", media_type: "text/plain", data: "Hello" } },
    },
    "https://example.org/\nHello",
    {},
  ],
])("%s is in the session", async (_, tool, content, output, outcome) => {
  const { sessions } = await parse({ type: `${tool}_tool_result`, tool_use_id: "s1", content });
  expect(sessions[0]?.messages[1]).toMatchObject({
    role: "tool",
    content: output,
    metadata: { result: { callId: "s1", ...outcome } },
  });
});
