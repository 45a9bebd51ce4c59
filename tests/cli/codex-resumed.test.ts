import { expect, test } from "vitest";
import type { Message, Sink } from "../../cli/adapters/adapter.ts";
import { Rollout } from "../../cli/adapters/codex/rollout.ts";

const id = "019ddddd-2222-7333-8444-555555555555";
const began = Date.parse("2026-11-20T10:00:00Z");
const line = (type: string, payload: object) => ({ type, payload });
const item = (payload: object) => line("response_item", payload);
const said = (role: string, text: string) => item({ type: "message", role, content: [{ type: "output_text", text }] });
const exec = (callId: string, input: string) =>
  item({ type: "custom_tool_call", call_id: callId, name: "exec", input });
const printed = (callId: string, output: string) => item({ type: "custom_tool_call_output", call_id: callId, output });
const ran = (command: string, exitCode: number) =>
  line("event_msg", {
    type: "item_completed",
    item: {
      ...{ type: "CommandExecution", command: ["bash", "-lc", command], exit_code: exitCode, status: "completed" },
      aggregated_output: command.startsWith("git") ? "[main 1a2b3c4] One\n" : "",
    },
    started_at_ms: began + 1000,
  });
const record = (number: number) =>
  line("token_usage_record", {
    ...{ thread_id: id, response_id: `r${number}` },
    usage: { input_tokens: 10, output_tokens: number },
  });
const running = "Script running with cell ID 5\nWall time 0.3 seconds\nOutput:\n";

const lines = [
  line("session_meta", { id, cwd: "/home/ada/code/web", parent_thread_id: "p", agent_path: "/root/helper" }),
  line("event_msg", {
    type: "thread_settings_applied",
    thread_settings: { model: "gpt-5.5", service_tier: "priority" },
  }),
  said("user", "Do it."),
  said("assistant", "One"),
  exec("a", "await tools.exec_command({cmd:'git commit -m One'})"),
  record(1),
  ran("git commit -m One", 0),
  printed("a", "Script completed\nWall time 0.1 seconds\nOutput:\n\ndone"),
  exec("b", "await tools.exec_command({cmd:'make all'})"),
  record(2),
  printed("b", running),
  item({ type: "function_call", call_id: "w", name: "wait", arguments: '{"cell_id":"5"}' }),
  record(3),
  ran("make all", 5),
  printed("w", "Script completed\nWall time 1.7 seconds\nOutput:\n\nlate"),
  line("event_msg", { type: "task_complete" }),
  said("assistant", "Over."),
  record(4),
].map((one, at) => ({ ...one, timestamp: new Date(began + at * 1000).toISOString() }));

/** Reads the lines, and goes on anew behind those before `cut` where that is possible. @returns undefined where it is not */
function read(cut?: number) {
  const messages: Message[] = [];
  let ending: unknown;
  const sink = {
    ...{ begin() {}, folder() {}, skipped() {}, invalid() {}, unhandled() {} },
    message: (message: Message) => void messages.push(structuredClone(message)),
    end(given: unknown) {
      ending = given;
    },
  } as unknown as Sink;
  let rollout = new Rollout(sink, `rollout-x-${id}`);
  for (const [at, one] of lines.entries()) {
    if (at === cut) {
      const state = rollout.save();
      if (!state) return undefined;
      rollout.end();
      rollout = new Rollout(sink, `rollout-x-${id}`);
      rollout.resume(JSON.parse(JSON.stringify(state)), messages.length);
    }
    rollout.add(one);
  }
  rollout.end();
  return { messages, ending };
}

test("a thread that is read on from any place has the same messages, results, tiers and commits as one read at once", () => {
  const whole = read();
  expect(whole?.messages.flatMap(({ metadata }) => metadata?.result ?? [])).toEqual([
    { callId: "a", exitCode: 0 },
    { callId: "b" },
    { callId: "w", exitCode: 5 },
  ]);
  const cuts = lines.flatMap((_, at) => (at > 0 && read(at) ? [at] : []));
  expect(cuts.length).toBeGreaterThan(2);
  for (const cut of cuts) expect([cut, read(cut)]).toEqual([cut, whole]);
});
