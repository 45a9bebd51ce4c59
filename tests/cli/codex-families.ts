// Random families of Codex' rollouts: a fork's file has its parent's lines, written anew at new times.
import { makeRandom } from "../support/random.ts";
import { type Edits, sumEdits } from "./claude-families.ts";

type Line = { timestamp: string; type: string; payload: Record<string, unknown> };
type Rollout = { id: string; lines: Line[] };
/** What a request used and whether it made a commit or an edit, known wherever its lines stand. */
type Request = { name: string; output: number; commits: number; edit?: { path: string; text: string } };

export type CodexFamily = {
  /** The lines of each rollout by its path. */
  files: Map<string, Line[]>;
  /** The requests whose lines each rollout has. */
  requests: Map<string, Request[]>;
};

const begin = Date.parse("2026-11-01T10:00:00Z");
const iso = (ms: number) => new Date(begin + ms).toISOString();

/** A UUID of version 7, which begins with its time. */
function idAt(ms: number, number: number): string {
  const hex = (begin + ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7333-8444-${String(number).padStart(12, "0")}`;
}

/** 2 to 6 rollouts of one kind of version: sessions that go on and are forked, also forks of forks. */
export function makeCodexFamily(seed: number): CodexFamily {
  const random = makeRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const version = pick(["records", "totals", "named turns", "no turns"] as const);
  let [number, now] = [seed * 1000, 0];
  const requests = new Map<string, Request[]>();
  const totals = new Map<string, { input: number; output: number }>();

  function turn(rollout: Rollout): void {
    now += 60_000 + Math.floor(random() * 60_000);
    const id = number++;
    const line = (after: number, type: string, payload: Line["payload"]) =>
      rollout.lines.push({ timestamp: iso(now + after), type, payload });
    const said = (role: string, text: string) => ({ type: "message", role, content: [{ type: "output_text", text }] });
    const turnId = version === "no turns" ? {} : { turn_id: version === "named turns" ? `turn-${id}` : idAt(now, id) };
    line(0, "event_msg", { type: "task_started", ...turnId, started_at: Math.floor((begin + now) / 1000) });
    line(1, "turn_context", { ...turnId, model: "gpt-5.5", cwd: "/home/ada/code/web" });
    line(2, "response_item", said("user", `Question ${id}`));
    line(900, "response_item", said("assistant", `Answer ${id}`));
    const request: Request = { name: `${id}`, output: 1 + Math.floor(random() * 50), commits: random() < 0.3 ? 1 : 0 };
    if (request.commits > 0) {
      const call = { call_id: `call_${id}`, name: "exec_command", arguments: '{"cmd":"git commit -m x"}' };
      line(900, "response_item", { type: "function_call", ...call });
      const output = `[main ${(0xabc0000 + id).toString(16)}] x`;
      line(900, "response_item", { type: "function_call_output", call_id: call.call_id, output });
    }
    if (random() < 0.4) {
      const edit = { path: pick(["a.ts", "lib/b.ts"]), text: `one ${id}\ntwo`.slice(0, id % 2 === 0 ? 40 : 4) };
      const call = { call_id: `call_${String(id).padStart(24, "x")}`, name: "apply_patch" };
      const lines = edit.text.replace(/^/gm, "+");
      const input = `*** Begin Patch\n*** Update File: ${edit.path}\n@@\n-old ${id}\n${lines}\n*** End Patch`;
      line(900, "response_item", { type: "custom_tool_call", ...call, input });
      line(900, "response_item", { type: "custom_tool_call_output", call_id: call.call_id, output: "Done" });
      Object.assign(request, { edit });
    }
    const usage = { input_tokens: 100 + Math.floor(random() * 900), output_tokens: request.output };
    const before = totals.get(rollout.id) ?? { input: 0, output: 0 };
    const total = { input: before.input + usage.input_tokens, output: before.output + usage.output_tokens };
    totals.set(rollout.id, total);
    if (version === "records")
      line(901, "token_usage_record", { response_id: `resp_${id}`, thread_id: rollout.id, usage });
    const info = {
      total_token_usage: { input_tokens: total.input, output_tokens: total.output },
      last_token_usage: usage,
    };
    line(902, "event_msg", { type: "token_count", info });
    requests.get(rollout.id)?.push(request);
  }

  function create(from?: Rollout): Rollout {
    now += 60_000;
    const id = idAt(now, number++);
    const forked = from && { forked_from_id: from.id };
    const meta = { id, timestamp: iso(now), cwd: "/home/ada/code/web", ...forked };
    const copied = (from?.lines ?? []).map((line, at) => ({ ...line, timestamp: iso(now + 2 + at) }));
    const lines = [{ timestamp: iso(now), type: "session_meta", payload: meta }, ...copied];
    requests.set(id, [...(requests.get(from?.id ?? "") ?? [])]);
    totals.set(id, { ...(totals.get(from?.id ?? "") ?? { input: 0, output: 0 }) });
    return { id, lines };
  }

  const rollouts = [create()];
  turn(rollouts[0] as Rollout);
  const count = 2 + Math.floor(random() * 5);
  while (rollouts.length < count) {
    const from = pick(rollouts);
    const rollout = random() < 0.4 ? from : create(from);
    if (rollout !== from) rollouts.push(rollout);
    if (rollout === from || random() < 0.8) turn(rollout);
  }
  const makePath = (id: string) => `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${id}.jsonl`;
  return {
    files: new Map(rollouts.map(({ id, lines }) => [makePath(id), lines])),
    requests: new Map(rollouts.map(({ id }) => [makePath(id), requests.get(id) ?? []])),
  };
}

/** The output and commits of the requests that any of some rollouts has: of each once. */
export function truthOfRollouts({ requests }: CodexFamily, paths: string[]): { tokens: number; commits: number } {
  const all = getRequests(requests, paths);
  const computeSum = (field: "output" | "commits") => all.reduce((sum, one) => sum + one[field], 0);
  return { tokens: computeSum("output"), commits: computeSum("commits") };
}

/** The edits of the requests that any of some rollouts has: of each once. */
export const editsOfRollouts = ({ requests }: CodexFamily, paths: string[]): Edits =>
  sumEdits(getRequests(requests, paths).flatMap(({ edit }) => edit ?? []));

function getRequests(requests: CodexFamily["requests"], paths: string[]): Request[] {
  return [...new Map(paths.flatMap((path) => requests.get(path) ?? []).map((one) => [one.name, one])).values()];
}
