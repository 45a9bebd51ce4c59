// A made-up home of several agents, with everything that makes tools count differently: answers over several lines, forks and
// resumed sessions that repeat their parent's lines, sub-agents, cumulative totals, both durations of the cache.
import { amp } from "../cli/samples/amp.ts";
import { copilot } from "../cli/samples/copilot.ts";
import { droid } from "../cli/samples/droid.ts";
import { kimi } from "../cli/samples/kimi.ts";
import { kimiCli } from "../cli/samples/kimi-cli.ts";
import { openclaw, pi } from "../cli/samples/pi.ts";
import { qwen } from "../cli/samples/qwen.ts";
import type { Sample } from "../cli/samples/sample.ts";
import { claudeCode, clock, jsonl, type Line } from "./claude-home.ts";

const codexId = (n: number) => `0199b000-000${n}-7333-8444-555555555555`;
const codexPath = (n: number) => `.codex/sessions/2026/11/03/rollout-2026-11-03T10-00-0${n}-${codexId(n)}.jsonl`;

/** What Codex reports: input with cached tokens, output with reasoning. */
const codexUsage = ([input, cached, output, reasoning]: [number, number, number, number]): Line => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  reasoning_output_tokens: reasoning,
  total_tokens: input + output,
});

type Turn = {
  at: number;
  model?: string;
  last: [number, number, number, number];
  total: [number, number, number, number];
};

function codexTurn(
  clockOf: (seconds: number) => string,
  turn: number,
  { at, model = "gpt-5.2-codex", last, total }: Turn,
) {
  const line = (seconds: number, type: string, payload: Line): Line => ({
    timestamp: clockOf(at + seconds),
    type,
    payload,
  });
  const counts = {
    total_token_usage: codexUsage(total),
    last_token_usage: codexUsage(last),
    model_context_window: 272_000,
  };
  const id = `turn-${turn}`;
  return [
    line(0, "event_msg", { type: "task_started", turn_id: id }),
    line(0, "turn_context", { turn_id: id, cwd: "/home/ada/code/web", model }),
    line(1, "response_item", {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: `Question ${turn}` }],
    }),
    line(3, "response_item", {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: `Answer ${turn}` }],
    }),
    line(4, "event_msg", { type: "token_count", info: counts }),
    // Told again when the limits change: nothing was used.
    line(5, "event_msg", { type: "token_count", info: counts, rate_limits: { primary: { used_percent: 3 } } }),
    line(6, "event_msg", { type: "task_complete", turn_id: id }),
  ];
}

/** Codex: a thread with cumulative totals and two models, and a fork that repeats its parent's turns. */
function codex(): Record<string, string> {
  const at = clock("2026-11-03T10:00:00Z");
  const meta = (n: number, more: Line = {}): Line => ({
    timestamp: at(n === 1 ? 0 : 7200),
    type: "session_meta",
    payload: {
      id: codexId(n),
      timestamp: at(n === 1 ? 0 : 7200),
      cwd: "/home/ada/code/web",
      originator: "codex_cli_rs",
      cli_version: "0.98.0",
      ...more,
    },
  });
  const one = { at: 10, last: [9000, 2000, 400, 256], total: [9000, 2000, 400, 256] } satisfies Turn;
  const two = { at: 90, last: [12_000, 9000, 700, 128], total: [21_000, 11_000, 1100, 384] } satisfies Turn;
  const mini: Turn = {
    at: 200,
    model: "gpt-5.1-codex-mini",
    last: [3000, 0, 50, 0],
    total: [24_000, 11_000, 1150, 384],
  };
  const own: Turn = { at: 7300, last: [14_000, 12_000, 333, 64], total: [35_000, 23_000, 1433, 448] };
  return {
    [codexPath(1)]: jsonl(meta(1), ...codexTurn(at, 1, one), ...codexTurn(at, 2, two), ...codexTurn(at, 3, mini)),
    [codexPath(2)]: jsonl(
      meta(2, { forked_from_id: codexId(1) }),
      ...codexTurn(() => at(7201), 1, one),
      ...codexTurn(() => at(7201), 2, two),
      ...codexTurn(at, 4, own),
    ),
  };
}

function gemini(): Record<string, string> {
  const at = clock("2026-11-04T10:00:00Z");
  const id = "44444444-2222-4333-8444-555555555555";
  const message = (n: number, fields: Line): Line => ({ id: `m${n}`, timestamp: at(n * 10), ...fields });
  const chat = {
    sessionId: id,
    projectHash: "web",
    startTime: at(0),
    lastUpdated: at(60),
    kind: "main",
    messages: [
      message(1, { type: "user", content: "Look." }),
      message(2, {
        type: "gemini",
        content: "I see.",
        model: "gemini-2.5-pro",
        tokens: { input: 8000, output: 120, cached: 6000, thoughts: 80, tool: 0, total: 8200 },
      }),
      message(3, {
        type: "gemini",
        content: "Done.",
        model: "gemini-2.5-flash",
        tokens: { input: 500, output: 20, cached: 0, thoughts: 0, tool: 0, total: 520 },
      }),
    ],
  };
  return { ".gemini/tmp/web/chats/session-2026-11-04T10-00-44444444.json": JSON.stringify(chat) };
}

function opencode(): Record<string, string> {
  const at = (seconds: number) => Date.parse("2026-11-05T10:00:00Z") + seconds * 1000;
  const store = ".local/share/opencode/storage";
  const session = "ses_01";
  const messages: Line[] = [
    { id: "msg_01", role: "user", time: { created: at(1) } },
    {
      id: "msg_02",
      role: "assistant",
      providerID: "anthropic",
      modelID: "claude-sonnet-4-20250514",
      time: { created: at(2), completed: at(9) },
      cost: 0.0117,
      tokens: { input: 400, output: 140, reasoning: 0, cache: { read: 9000, write: 1500 } },
    },
    {
      id: "msg_03",
      role: "assistant",
      providerID: "openai",
      modelID: "gpt-5.2",
      time: { created: at(20), completed: at(29) },
      cost: 0,
      tokens: { total: 2850, input: 2000, output: 300, reasoning: 50, cache: { read: 500, write: 0 } },
    },
  ];
  const about = { id: session, projectID: "p1", directory: "/home/ada/code/web", title: "Look", version: "1.1.0" };
  const files: Record<string, string> = {
    [`${store}/session/p1/${session}.json`]: JSON.stringify({ ...about, time: { created: at(0), updated: at(30) } }),
  };
  for (const message of messages) {
    files[`${store}/message/${session}/${message.id}.json`] = JSON.stringify({ sessionID: session, ...message });
    files[`${store}/part/${message.id}/prt_${message.id}.json`] = JSON.stringify({
      id: `prt_${message.id}`,
      messageID: message.id,
      sessionID: session,
      type: "text",
      text: "Words",
    });
  }
  return files;
}

/** The sessions of other agents that a second reading checks, too (tests/cli/readings.test.ts). */
function listFiles({ path, others = {}, lines, document }: Sample): Record<string, string> {
  const items = lines.map((line) => JSON.stringify(line));
  return { ...others, [path]: document ? document(items) : jsonl(...(lines as Line[])) };
}
const samples = [amp, copilot, droid, kimi, kimiCli, openclaw, pi, qwen];

/** The home's files in the order in which they came to be: a copy is younger than what it was copied from. */
export const usageHome = (): [string, string][] =>
  [claudeCode(), codex(), gemini(), opencode(), ...samples.map(listFiles)].flatMap((files) => Object.entries(files));
