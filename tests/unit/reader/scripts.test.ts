import { expect, test } from "vitest";
import { makeFileReader } from "#lib/transcript/files/touches";
import type { ReaderMessage } from "#lib/transcript/message";
import { plainCall } from "#lib/transcript/script";
import { describeTool } from "#lib/transcript/tools/tools";

const exec = (input: string) => ({ name: "exec", input: { input } });
const printed = (text: string, head = "Script completed") => ({
  output: `${head}\nWall time 0.2 seconds\nOutput:\n\n${text}`,
});

test("a script with one call that is written out stands for that call, however its argument is written", () => {
  const getInput = (argument: string) => plainCall(exec(`text((await tools.exec_command(${argument})).output)`)).input;
  expect(getInput(`{"cmd":"ls \\"a b\\"","login":true}`)).toEqual({ cmd: 'ls "a b"', login: true });
  expect(getInput("{ cmd: 'it\\'s', yield_time_ms: 250, }")).toEqual({ cmd: "it's", yield_time_ms: 250 });
  expect(getInput("{cmd:`one\ntwo \\u00e9`, prefix_rule: ['git', \"pull\"], tty: null}")).toEqual({
    ...{ cmd: "one\ntwo é", prefix_rule: ["git", "pull"], tty: null },
  });
  expect(plainCall(exec("await tools.apply_patch(`*** Begin Patch\\n*** End Patch`);"))).toMatchObject({
    name: "apply_patch",
    input: { input: "*** Begin Patch\n*** End Patch" },
  });
});

test("a script whose calls depend on what it does is shown as it is", () => {
  for (const script of [
    "const r = 1 + 1; text(r)",
    "await tools.exec_command({cmd: name})",
    "await tools.exec_command({cmd: `ls ${name}`})",
    "await tools.exec_command({cmd: 'ls ' + name})",
    "await tools.exec_command({...rest})",
    "await tools.exec_command(",
    `await tools.exec_command(${"[".repeat(100_000)}`,
    "await tools.exec_command({cmd:'ls'}); await tools.apply_patch(patch)",
  ])
    expect(plainCall(exec(script))).toEqual(exec(script));
  const other = { name: "bash", input: { input: "tools.exec_command({cmd:'ls'})" } };
  expect(plainCall(other)).toBe(other);
});

test("a script's row is titled by its command, and has the outcome and output without the heading", () => {
  const script = exec(`const r = await tools.exec_command({"cmd":"npm test"});\ntext(r.output);`);
  expect(describeTool(script, { ...printed("1 failed"), exitCode: 1, durationMs: 1200 })).toMatchObject({
    ...{ kind: "shell", tool: "exec", title: "npm test", status: "failed", exitCode: 1, durationMs: 1200 },
    blocks: [
      { type: "code", text: "npm test" },
      { type: "output", text: "1 failed" },
    ],
  });
  expect(describeTool(script, printed("ok"))).toMatchObject({ status: "ok", durationMs: 200 });
  expect(describeTool(script, printed("Script error:", "Script failed")).status).toBe("failed");
  expect(describeTool(script, printed("", "Script running with cell ID 5")).status).toBe("ok");
  const polled = exec("text(await tools.write_stdin({session_id: 1, chars: ''}))");
  expect(describeTool(polled, printed("late"))).toMatchObject({ kind: "shell", title: "write_stdin" });
  const several = exec("await Promise.all([tools.exec_command({cmd:'make a'}), tools.exec_command({cmd:'make b'})])");
  expect(describeTool(several, printed(""))).toMatchObject({ kind: "shell", title: "make a" });
  const tasks = exec("await tools.update_plan({plan: [{step: 'Look', status: 'completed'}]})");
  expect(describeTool(tasks, printed("{}")).kind).toBe("tasks");
});

const patch =
  "--- /home/ada/web/a.ts\n+++ /home/ada/web/a.ts\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n--- /dev/null\n+++ /home/ada/web/new.txt\n@@ -0,0 +1,1 @@\n+one";
const asked = "*** Begin Patch\\n*** Update File: a.ts\\n@@\\n-a\\n+A\\n*** Add File: new.txt\\n+one\\n*** End Patch";

test("a script's patch is an edit with the files that were reported, also where it failed after them", () => {
  const edit = exec(`await tools.apply_patch("${asked}"); text('done')`);
  expect(describeTool(edit, { ...printed("done"), patch })).toMatchObject({
    ...{ kind: "edit", title: "2 files", changes: { added: 2, removed: 1 } },
    files: [{ path: "/home/ada/web/a.ts" }, { path: "/home/ada/web/new.txt" }],
  });
  const touchedBy = (call: object, result: object) => {
    const reader = makeFileReader({ source: "codex-cli", metadata: { cwd: "/home/ada/web" } });
    const message = (position: number, role: string, metadata: Record<string, unknown>): ReaderMessage => ({
      ...{ position, role, content: "x", tokenCount: null, createdAt: null },
      metadata,
    });
    reader.add(message(0, "assistant", { tool: { ...call, callId: "c", content: "call" } }));
    reader.add(message(1, "tool", { result: { callId: "c", ...result } }));
    return reader.touches().map(({ action, path }) => [action, path]);
  };
  const files = [
    ["edit", "a.ts"],
    ["write", "new.txt"],
  ];
  expect(touchedBy(edit, { patch })).toEqual(files);
  const tested = exec(`await tools.apply_patch("${asked}"); await tools.exec_command({cmd: "npm test"})`);
  expect(touchedBy(tested, { patch, exitCode: 1 })).toEqual(files);
  expect(touchedBy(edit, { isError: true })).toEqual([]);
});
