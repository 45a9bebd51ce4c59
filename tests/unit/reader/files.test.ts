import { describe, expect, test } from "vitest";
import { makeFileReader, type TouchingSession } from "#lib/transcript/files/touches";
import type { ReaderMessage } from "#lib/transcript/message";

type Fields = Record<string, unknown>;

const session: TouchingSession = { source: "claude-code", metadata: { cwd: "/home/ada/api" } };

const message = (position: number, metadata: Fields, content = "", role = "assistant"): ReaderMessage => ({
  ...{ position, role, content, tokenCount: null, createdAt: null },
  metadata,
});

/** A call and its result as the client sends them. */
const called = (name: string, input: Fields, output = "", result: Fields = {}): ReaderMessage[] => [
  message(0, { tool: { name, callId: "c", input, content: "call" } }, name),
  message(1, { result: { callId: "c", ...result } }, output, "tool"),
];

/** What was touched, as `action path +added −removed`. */
function touched(messages: ReaderMessage[], of: TouchingSession = session): string[] {
  const reader = makeFileReader(of);
  for (const one of messages) reader.add(one);
  return reader.touches().map(({ action, path, added, removed }) => `${action} ${path} +${added} −${removed}`);
}

const codexPatch = `*** Begin Patch
*** Add File: docs/new.md
+# New
+
+text
*** Update File: src/a.ts
@@ function a() {
-  return 1;
+  return 2;
+  // done
*** Update File: src/b.ts
*** Move to: src/c.ts
@@
-old
+new
*** Delete File: src/d.ts
*** End Patch`;
const codexFiles = [
  "write docs/new.md +3 −0",
  "edit src/a.ts +2 −1",
  "delete src/b.ts +0 −0",
  "write src/c.ts +1 −1",
  "delete src/d.ts +0 −0",
];
const hunk = "@@ -1,3 +1,4 @@\n a\n-b\n+b2\n+b3\n c";
const searched = "<<<<<<< SEARCH\n:start_line:3\n-------\na\nb\n=======\na\nB\nB2\n>>>>>>> REPLACE";

describe("what a call did with files", () => {
  test.each<[string, ReaderMessage[], string[]]>([
    ["Claude reads", called("Read", { file_path: "/home/ada/api/src/a.ts" }, "1→x"), ["read src/a.ts +0 −0"]],
    [
      "Claude edits, with its patch",
      called("Edit", { file_path: "/home/ada/api/a.ts", old_string: "b", new_string: "b2\nb3" }, "", { patch: hunk }),
      ["edit a.ts +2 −1"],
    ],
    [
      "Claude edits, without a patch",
      called("Edit", { file_path: "a.ts", old_string: "x\nb\ny", new_string: "x\nb2\nb3\ny" }),
      ["edit a.ts +2 −1"],
    ],
    [
      "Claude replaces all, with its patch",
      called("Edit", { file_path: "a.ts", old_string: "b", new_string: "c", replace_all: true }, "", {
        patch: "@@ -1,1 +1,1 @@\n-b\n+c\n@@ -9,1 +9,1 @@\n-b b\n+c c",
      }),
      ["edit a.ts +2 −2"],
    ],
    [
      "Claude's MultiEdit",
      called("MultiEdit", {
        file_path: "a.ts",
        edits: [
          { old_string: "a", new_string: "b" },
          { old_string: "c\nd", new_string: "c" },
        ],
      }),
      ["edit a.ts +1 −2"],
    ],
    ["Claude writes a new file", called("Write", { file_path: "n.ts", content: "a\nb\n" }), ["write n.ts +2 −0"]],
    [
      "Claude writes over a file",
      called("Write", { file_path: "n.ts", content: "a\nb2\nb3\nc" }, "", { patch: hunk }),
      ["write n.ts +2 −1"],
    ],
    [
      "Claude's notebook",
      called("NotebookEdit", { notebook_path: "n.ipynb", new_source: "a\nb", edit_mode: "insert" }),
      ["edit n.ipynb +2 −0"],
    ],
    ["Codex' patch", called("apply_patch", { input: codexPatch }), codexFiles],
    ["Codex' patch from a shell", called("shell", { command: ["apply_patch", codexPatch] }), codexFiles],
    [
      "Codex' patch in a heredoc",
      called("exec_command", { cmd: `apply_patch <<'EOF'\n${codexPatch}\nEOF\n` }, "", { exitCode: 0 }),
      codexFiles,
    ],
    [
      "Codex' patch in a script",
      called(
        "exec",
        { input: `text(await tools.apply_patch(${JSON.stringify(codexPatch)}))` },
        "Success. Updated the following files:\nM src/a.ts",
      ),
      codexFiles,
    ],
    [
      "Gemini replaces in several places",
      called(
        "replace",
        { file_path: "a.go", old_string: "x", new_string: "y", expected_replacements: 3 },
        "Successfully modified file: a.go (3 replacements).",
      ),
      ["edit a.go +3 −3"],
    ],
    [
      "Gemini writes, with its diff",
      called("write_file", { file_path: "a.go", content: "x" }, "", {
        patch:
          "Index: a.go\n===================================================================\n--- a.go\tCurrent\n+++ a.go\tProposed\n@@ -1,2 +1,1 @@\n--- a comment of Lua\n-y\n+x",
      }),
      ["write a.go +1 −2"],
    ],
    [
      "Gemini reads several files",
      called("read_many_files", { paths: ["a.go", "src/**/*.go", "b.go"] }, "…"),
      ["read a.go +0 −0", "read b.go +0 −0"],
    ],
    ["a list of a folder is no file", called("list_directory", { path: "src" }, "a"), []],
    [
      "OpenCode edits",
      called("edit", { filePath: "/home/ada/api/x.ts", oldString: "a", newString: "b\nc" }),
      ["edit x.ts +2 −1"],
    ],
    [
      "Copilot in an editor edits two files",
      called("multi_replace_string_in_file", {
        replacements: [
          { filePath: "/home/ada/api/x.ts", oldString: "a", newString: "b" },
          { filePath: "/home/ada/api/y.ts", oldString: "a\nb", newString: "b" },
        ],
      }),
      ["edit x.ts +1 −1", "edit y.ts +0 −1"],
    ],
    ["Copilot views", called("str_replace_editor", { command: "view", path: "x.ts" }, "x"), ["read x.ts +0 −0"]],
    [
      "Copilot inserts",
      called("str_replace_editor", { command: "insert", path: "x.ts", insert_line: 3, new_str: "a\nb\n" }),
      ["edit x.ts +2 −0"],
    ],
    [
      "Copilot creates",
      called("str_replace_editor", { command: "create", path: "x.ts", file_text: "a\n" }),
      ["write x.ts +1 −0"],
    ],
    ["Amazon Q appends", called("fs_write", { command: "append", path: "x.ts", new_str: "a\nb" }), ["edit x.ts +2 −0"]],
    [
      "Kimi edits",
      called("StrReplaceFile", {
        path: "x.ts",
        edit: [
          { old: "a", new: "b" },
          { old: "c", new: "" },
        ],
      }),
      ["edit x.ts +1 −2"],
    ],
    ["Kimi appends", called("WriteFile", { path: "x.ts", content: "a\nb", mode: "append" }), ["edit x.ts +2 −0"]],
    ["Roo searches and replaces", called("apply_diff", { path: "x.ts", diff: searched }), ["edit x.ts +2 −1"]],
    [
      "Cursor's sketch tells no lines",
      called("edit_file", { target_file: "x.ts", code_edit: "a\n…" }),
      ["edit x.ts +0 −0"],
    ],
    ["Cursor deletes", called("delete_file", { target_file: "x.ts" }), ["delete x.ts +0 −0"]],
    [
      "Antigravity",
      called("replace_file_content", {
        TargetFile: "/home/ada/api/x.ts",
        ReplacementChunks: [{ TargetContent: "a\nb\nc", ReplacementContent: "a\nc" }],
      }),
      ["edit x.ts +0 −1"],
    ],
    [
      "Zed moves",
      called("move_path", { source_path: "a.rs", destination_path: "b.rs" }),
      ["delete a.rs +0 −0", "write b.rs +0 −0"],
    ],
    [
      "a failed edit",
      called("Edit", { file_path: "a", old_string: "x", new_string: "y" }, "no", { isError: true }),
      [],
    ],
    [
      "a declined edit",
      called(
        "Edit",
        { file_path: "a", old_string: "x", new_string: "y" },
        "The user doesn't want to proceed with this",
      ),
      [],
    ],
    ["an address of the web", called("view_file", { path: "https://example.org/x.ts" }, "x"), []],
    ["a hostile path", called("Read", { file_path: `a\u0000b\n${"x".repeat(5000)}` }, "x"), []],
  ])("%s", (_, messages, expected) => {
    expect(touched(messages)).toEqual(expected);
  });

  test("a call counts when its result is there, and is open until then", () => {
    const reader = makeFileReader(session);
    const [call, result] = called("Edit", { file_path: "a", old_string: "x", new_string: "y" }) as [
      ReaderMessage,
      ReaderMessage,
    ];
    reader.add(call);
    reader.add(message(1, {}, "a word"));
    expect([reader.touches(), reader.openFrom()]).toEqual([[], 0]);
    reader.add({ ...result, position: 2 });
    expect([reader.touches().length, reader.openFrom()]).toEqual([1, undefined]);
  });

  test("Cursor's transcripts have no results: its calls count once the session went on", () => {
    const cursor: TouchingSession = { source: "cursor", metadata: null };
    const [call] = called("edit_file", { target_file: "x.ts", code_edit: "" }) as [ReaderMessage];
    expect(touched([call], cursor)).toEqual([]);
    expect(touched([call, message(1, {}, "Done.")], cursor)).toEqual(["edit x.ts +0 −0"]);
    expect(touched([call, message(1, {}, "Done.")])).toEqual([]);
  });
});

describe("what a shell command certainly changed", () => {
  const run = (command: string, output = "", more: Fields = {}) =>
    touched(called("exec_command", { cmd: command, ...more }, output, { exitCode: 0 }));

  test.each<[string, string[]]>([
    ["rm a.ts 'b c.ts'", ["delete a.ts +0 −0", "delete b c.ts +0 −0"]],
    ["cd src && rm a.ts", ["delete src/a.ts +0 −0"]],
    ["git rm a.ts && git mv b.ts c.ts", ["delete a.ts +0 −0", "delete b.ts +0 −0", "write c.ts +0 −0"]],
    ["git mv a.ts lib/", ["delete a.ts +0 −0", "write lib/a.ts +0 −0"]],
    ["sed -i 's/a/b/' x.ts y.ts", ["edit x.ts +0 −0", "edit y.ts +0 −0"]],
    ["sed -i '' 's/a/b/' x.ts", ["edit x.ts +0 −0"]],
    ["cat > x.md <<'EOF'\n# $x\n\ntext\nEOF", ["write x.md +3 −0"]],
    ["cat <<EOF >> x.md\nmore\nEOF\n", ["edit x.md +1 −0"]],
    ["cat > a <<'A'\n1\nA\ncat > b <<'B'\n2\n3\nB\nnpm test", ["write a +1 −0", "write b +2 −0"]],
  ])("%s", (command, expected) => {
    expect(run(command)).toEqual(expected);
  });

  test.each([
    "rm -rf build",
    "rm -f maybe.ts",
    "rm *.log",
    "rm $FILE",
    "rm a.ts || true",
    "test -f a.ts && rm a.ts || true",
    "if true; then rm a.ts; fi",
    "for f in a b; do rm $f; done",
    "(rm a.ts)",
    "echo 'rm a.ts'",
    "echo rm a.ts | sh",
    "git mv src lib",
    "mv a b",
    "git rm --cached a.ts",
    "sed 's/a/b/' x.ts",
    "sed -n '1,5p' x.ts",
    "cat x.md",
    "cat > $OUT <<'EOF'\na\nEOF",
    "cat > /dev/null <<'EOF'\na\nEOF",
    "cat <<'EOF' | tee a | sh\nrm x\nEOF",
    "cat > a <<'EOF'\nno end",
    "cd $DIR && rm a.ts",
    "rm 'unended",
  ])("nothing is sure of: %s", (command) => {
    expect(run(command)).toEqual([]);
  });

  test("a part that failed before the last one", () => {
    expect(run("rm a.ts; ls", "rm: cannot remove 'a.ts': No such file or directory")).toEqual([]);
    expect(run("rm a.ts 2>/dev/null; ls")).toEqual([]);
    expect(run("rm a.ts; ls", "b.ts")).toEqual(["delete a.ts +0 −0"]);
  });

  test("a relative path where an earlier cd may have led the shell elsewhere", () => {
    expect(touched(called("Bash", { command: "cd docs && rm a.md" }))).toEqual([]);
    expect(touched(called("Bash", { command: "rm a.ts" }))).toEqual([]);
    expect(touched(called("Bash", { command: "rm /home/ada/api/a.ts" }))).toEqual(["delete a.ts +0 −0"]);
    expect(touched(called("Bash", { command: "cd /home/ada/api/src && rm a.ts" }))).toEqual(["delete src/a.ts +0 −0"]);
    expect(touched(called("bash", { command: "rm a.ts", workdir: "/home/ada/api/x" }))).toEqual([
      "delete x/a.ts +0 −0",
    ]);
  });
});
