import { expect, test } from "vitest";
import { outlineOf } from "#lib/reader/outline";
import { message } from "./rendering";

const tool = (name: string, input: object, output = "") => ({ tool: { name, input, output } });

test("the outline has turns, files with their changes, and failures with the call's words", () => {
  const messages = [
    message({ role: "user", content: "Fix it\nplease" }),
    message({ metadata: { tool: { name: "Bash", callId: "1", input: { command: "make" } } } }),
    message({ role: "tool", content: "Exit code 2", metadata: { result: { callId: "1" } } }),
    message({ metadata: tool("Edit", { file_path: "a.ts", old_string: "a", new_string: "b" }) }),
    message({ metadata: tool("Edit", { file_path: "a.ts", old_string: "c", new_string: "" }) }),
    message({ role: "user", content: "<command-name>/exit</command-name>" }),
  ];
  const at = messages.map(({ position }) => position);
  expect(outlineOf(messages)).toEqual({
    turns: [{ position: at[0], title: "Fix it" }],
    files: [
      {
        ...{ path: "a.ts", reads: 0, edits: 2, added: 1, removed: 2, firstPosition: at[3], lastPosition: at[4] },
        places: [
          { position: at[3], added: 1, removed: 1 },
          { position: at[4], added: 0, removed: 1 },
        ],
      },
    ],
    fileCount: 1,
    errors: [{ position: at[1], title: "make" }],
  });
});

test("a file's path is that which the tool's answer names, whatever stands in backticks there", () => {
  const edited = (answer: string) =>
    message({
      content: `<tool-use data-tool-type="write" data-tool-name="Edit"><details>\n<summary>Tool use: **Edit**</summary>\n\n${answer}\n</details></tool-use>`,
    });
  const messages = [
    edited("```text\nThe file /a b/x.go has been updated. Here's the result of running `cat -n` on it:\n 1→`c`\n```"),
    edited("The file /y.go has been updated. Here's the result of running `cat -n` on it: `d`"),
  ];
  expect(outlineOf(messages).files.map(({ path }) => path)).toEqual(["/a b/x.go", "/y.go"]);
});
