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
