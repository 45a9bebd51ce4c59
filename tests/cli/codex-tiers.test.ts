import { expect, test } from "vitest";
import { codex } from "../../cli/adapters/codex/adapter.ts";
import { makeHome, parseAll, toLines } from "./home.ts";

const id = "019ccccc-2222-7333-8444-555555555555";
const path = `.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-${id}.jsonl`;

let second = 0;
const line = (type: string, payload: object) => ({
  timestamp: new Date(Date.parse("2026-11-20T10:00:00Z") + second++ * 1000).toISOString(),
  type,
  payload,
});
const answer = (text: string) =>
  line("response_item", { type: "message", role: "assistant", content: [{ type: "output_text", text }] });
const settings = (more: object) =>
  line("event_msg", { type: "thread_settings_applied", thread_settings: { model: "gpt-5.5", ...more } });
const used = { input_tokens: 10, output_tokens: 1 };
const record = (more: object = {}, usage: object = {}) =>
  line("token_usage_record", { thread_id: id, usage: { ...used, ...usage }, ...more });
let total = 0;
const count = (event: object, info: object = {}, last: object = {}) => {
  total += 10;
  const all = { input_tokens: total, output_tokens: total / 10 };
  const told = { total_token_usage: all, last_token_usage: { ...used, ...last }, ...info };
  return line("event_msg", { type: "token_count", info: told, ...event });
};

const readTiers = async (...records: unknown[]) => {
  total = 0;
  const meta = line("session_meta", { id, cwd: "/home/ada/code/web" });
  const { sessions } = await parseAll(codex, await makeHome({ [path]: toLines(meta, ...records) }));
  return sessions[0]?.messages.map(({ metadata }) => metadata?.serviceTier);
};

test("a request's own report tells its service tier, also where the thread has another one", async () => {
  const fast = settings({ service_tier: "priority" });
  const tiers = [fast, answer("a"), record(), answer("b"), record({ service_tier: "default" })];
  expect(await readTiers(...tiers)).toEqual(["priority", "default"]);
  expect(await readTiers(fast, answer("a"), record({}, { service_tier: "flex" }))).toEqual(["flex"]);
});

test("a running total tells the tier of the request that it was made for, wherever it has it", async () => {
  const counts = [
    () => count({ service_tier: "priority" }),
    () => count({}, { service_tier: "priority" }),
    () => count({}, {}, { service_tier: "priority" }),
    () => count({}),
  ];
  const lines = counts.flatMap((make, at) => [answer(`${at}`), make]);
  total = 0;
  expect(await readTiers(...lines.map((one) => (typeof one === "function" ? one() : one)))).toEqual([
    "priority",
    "priority",
    "priority",
    undefined,
  ]);
});

test("a thread's tier ends with its next settings that have none", async () => {
  const tiers = await readTiers(
    settings({ service_tier: "priority" }),
    line("turn_context", { model: "gpt-5.5" }),
    answer("a"),
    record(),
    settings({}),
    answer("b"),
    record(),
    line("turn_context", { model: "gpt-5.5", service_tier: "flex" }),
    answer("c"),
    record(),
    line("turn_context", { model: "gpt-5.5", service_tier: null }),
    answer("d"),
    record(),
  );
  expect(tiers).toEqual(["priority", undefined, "flex", undefined]);
});
