import { expect, test } from "vitest";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const id = "019aaaaa-2222-7333-8444-555555555555";
const path = `.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-${id}.jsonl`;
const parse = async (...records: unknown[]) => parseAll(codex, await makeHome({ [path]: toLines(...records) }));

const began = Date.parse("2026-11-20T10:00:00Z");
const line = (second: number, type: string, payload: object) => ({
  timestamp: new Date(began + second * 1000).toISOString(),
  type,
  payload,
});
const meta = (more: object = {}) => line(0, "session_meta", { id, cwd: "/home/ada/code/web", ...more });
const exec = (second: number, callId: string, input: string) =>
  line(second, "response_item", { type: "custom_tool_call", call_id: callId, name: "exec", input });
const printed = (second: number, callId: string, head: string, ...texts: string[]) =>
  line(second, "response_item", {
    type: "custom_tool_call_output",
    call_id: callId,
    output: [`${head}\nWall time 0.2 seconds\nOutput:\n`, ...texts].map((text) => ({ type: "input_text", text })),
  });
const done = (second: number, item: object, startedAt = second) =>
  line(second, "event_msg", { type: "item_completed", item, started_at_ms: began + startedAt * 1000 });
const ran = (command: string, exitCode: number, output = "", nanos = 5_000_000) => ({
  type: "CommandExecution",
  id: `exec-${command.length}`,
  command: ["/bin/bash", "-lc", command],
  status: exitCode === 0 ? "completed" : "failed",
  aggregated_output: output,
  exit_code: exitCode,
  duration: { secs: 1, nanos },
});
const changed = (changes: object, status = "completed") => ({ type: "FileChange", id: "exec-f", changes, status });

const results = ({ sessions }: Awaited<ReturnType<typeof parse>>) =>
  sessions.flatMap(({ messages }) =>
    messages.flatMap(({ metadata }) =>
      metadata?.result ? [{ ...(metadata.result as object), durationMs: metadata.durationMs }] : [],
    ),
  );

test("a script's result has the exit code, the time and the changes that events tell", async () => {
  const parsed = await parse(
    meta(),
    exec(1, "a", "const r = await tools.exec_command({cmd:'npm test'}); text(r.output);"),
    done(2, ran("npm test", 3, "1 failed\n")),
    printed(3, "a", "Script completed", "1 failed\n"),
    exec(4, "b", "await tools.apply_patch(`…`); text('ok')"),
    done(
      5,
      changed({
        "/home/ada/code/web/new.txt": { type: "add", content: "one\ntwo\n" },
        "/home/ada/code/web/old.txt": { type: "delete", content: "gone\n" },
        "/home/ada/code/web/a.ts": {
          type: "update",
          unified_diff: "@@ -1,2 +1,2 @@\n-a\n+A\n b\n",
          move_path: "/home/ada/code/web/b.ts",
        },
      }),
    ),
    done(5, changed({ "/home/ada/code/web/never.txt": { type: "add", content: "no\n" } }, "failed")),
    printed(6, "b", "Script completed", "ok"),
    exec(7, "c", "throw new Error('no')"),
    printed(8, "c", "Script failed", "Script error:\nError: no"),
    exec(9, "d", "text('nothing was done')"),
    printed(10, "d", "Script completed", "nothing was done"),
  );
  const patch = [
    "--- /dev/null\n+++ /home/ada/code/web/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two",
    "--- /home/ada/code/web/old.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone",
    "--- /home/ada/code/web/a.ts\n+++ /home/ada/code/web/b.ts\n@@ -1,2 +1,2 @@\n-a\n+A\n b",
  ].join("\n");
  expect(results(parsed)).toEqual([
    { callId: "a", exitCode: 3, durationMs: 1005 },
    { callId: "b", isError: true, patch, durationMs: undefined },
    { callId: "c", isError: true, durationMs: undefined },
    { callId: "d", durationMs: undefined },
  ]);
  expect(parsed.unhandled).toEqual([]);
});

test("a script that ran several commands failed where one of them did, and took as long as it says itself", async () => {
  const parsed = await parse(
    meta(),
    exec(1, "a", "await Promise.all(['make a', 'make b'].map((cmd) => tools.exec_command({cmd})))"),
    done(2, ran("make a", 0)),
    done(2, ran("make b", 2)),
    printed(3, "a", "Script completed", ""),
  );
  expect(results(parsed)).toEqual([{ callId: "a", exitCode: 2, durationMs: undefined }]);
});

test("each of several scripts has what its own commands came to, and a command that ended in the background is none's", async () => {
  const parsed = await parse(
    meta(),
    exec(1, "a", String.raw`text((await tools.exec_command({cmd:"printf 'a\\n'; exit 4"})).output)`),
    exec(1, "b", "text((await tools.exec_command({cmd:'make b'})).output)"),
    done(2, ran("sleep 9", 6), 0),
    done(3, ran("make b", 0)),
    done(4, ran(String.raw`printf 'a\n'; exit 4`, 4)),
    printed(5, "a", "Script completed", "a"),
    printed(6, "b", "Script completed", "b"),
  );
  expect(results(parsed)).toMatchObject([
    { callId: "a", exitCode: 4 },
    { callId: "b", exitCode: 0 },
  ]);
});

test("a script that goes on after its result ends with the call that waits for it", async () => {
  const wait = line(4, "response_item", {
    type: "function_call",
    call_id: "w",
    name: "wait",
    arguments: '{"cell_id":"5"}',
  });
  const { sessions } = await parse(
    meta(),
    exec(1, "a", "text(await tools.exec_command({cmd:'make all'}))"),
    line(2, "response_item", {
      type: "custom_tool_call_output",
      call_id: "a",
      output: "Script running with cell ID 5\nWall time 0.3 seconds\nOutput:\n",
    }),
    wait,
    done(5, ran("make all", 5), 1),
    printed(6, "w", "Script completed", "late"),
  );
  expect(sessions[0]?.messages.map(({ metadata }) => metadata)).toMatchObject([
    { tool: { name: "exec" } },
    { result: { callId: "a" } },
    { tool: { name: "wait" }, kind: "shell" },
    { result: { callId: "w", exitCode: 5 }, durationMs: 1005 },
  ]);
  expect(sessions[0]?.messages[1]?.metadata?.result).not.toHaveProperty("exitCode");
});

test("a commit counts once, whether a script prints what Git printed or not", async () => {
  const { sessions } = await parse(
    meta(),
    exec(1, "a", "text((await tools.exec_command({cmd:'git commit -m one'})).output)"),
    done(2, ran("git commit -m one", 0, "[main 1a2b3c4] One\n 1 file changed\n")),
    printed(3, "a", "Script completed", "[main 1a2b3c4] One\n 1 file changed\n"),
    exec(4, "b", "await tools.exec_command({cmd:'git commit -m two'})"),
    done(5, ran("git commit -m two", 0, "[main 5d6e7f8] Two\n 1 file changed\n")),
    printed(6, "b", "Script completed", "done"),
  );
  expect(sessions[0]?.ending.metadata).toMatchObject({
    commits: [
      { hash: "1a2b3c4", branch: "main", subject: "One", position: 1 },
      { hash: "5d6e7f8", branch: "main", subject: "Two" },
    ],
  });
});

const parent = "019bbbbb-2222-7333-8444-555555555555";
const agent = { forked_from_id: parent, parent_thread_id: parent, agent_path: "/root/fix_login" };
const given = (task: string) =>
  line(5, "response_item", {
    type: "agent_message",
    author: "/root",
    recipient: "/root/fix_login",
    content: [
      { type: "input_text", text: "Message Type: NEW_TASK\nTask name: /root/fix_login\nSender: /root\nPayload:\n" },
      { type: "encrypted_content", encrypted_content: task },
    ],
  });
const forked = (task: string) =>
  parse(
    { ...meta({ ...agent, subagent_history_start_ordinal: 2 }), ordinal: 0 },
    {
      ...line(1, "response_item", {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "Ship it." }],
      }),
      ordinal: 1,
    },
    { ...given(task), ordinal: 2 },
  );

test("a sub-agent's title and first message are its task, not what its parent was asked", async () => {
  const { sessions } = await forked("Repair the login form.\n\nThe tests are in tests/login.");
  expect(sessions[0]?.ending).toMatchObject({ title: "Repair the login form.", metadata: { parent } });
  expect(sessions[0]?.messages).toMatchObject([
    { role: "user", content: "Ship it.", metadata: { replayed: true } },
    { role: "user", content: "Repair the login form.\n\nThe tests are in tests/login." },
  ]);
  expect(sessions[0]?.messages[1]?.metadata?.kind).toBeUndefined();
});

test("a sub-agent whose task is encrypted is called as its task is named", async () => {
  const { sessions } = await forked("gAAAAABotherwise");
  expect(sessions[0]?.ending.title).toBe("fix login");
  expect(sessions[0]?.messages[1]?.metadata?.kind).toBe("notice");
});
