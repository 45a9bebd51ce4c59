// Random threads of Codex: running totals that are repeated and begin anew, records of requests, forks and pages.
import type { Line, Tokens, World } from "./world.ts";

const models = ["gpt-5.2-codex", "gpt-5.1-codex-mini", "gpt-5.5", "gpt-6-sol"];
const agent = "codex-cli";

type Usage = Tokens & { reasoning: number };
type Thread = {
  id: string;
  /** The sums that its requests are in. */
  keys: Set<string>;
  lines: Line[];
  turns: Line[][];
  total: Usage;
  hasRecords: boolean;
  kinds: string[];
  path?: string;
};

const nothing = (): Usage => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 });

/** Codex' input holds the cached tokens. */
const told = ({ input, output, cacheRead, cacheWrite, reasoning }: Usage): Line => ({
  input_tokens: input + cacheRead + cacheWrite,
  cached_input_tokens: cacheRead,
  ...(cacheWrite > 0 && { cache_write_input_tokens: cacheWrite }),
  output_tokens: output,
  reasoning_output_tokens: reasoning,
  total_tokens: input + cacheRead + cacheWrite + output,
});

const said = (role: string, text: string) => ({
  type: "message",
  role,
  content: [{ type: role === "user" ? "input_text" : "output_text", text }],
});

class Writer {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  line(type: string, payload: Line): Line {
    return { timestamp: this.#world.tick(), type, payload };
  }

  /** An id of version 7, whose first digits are the time. */
  id(): string {
    const hex = this.#world.now.toString(16).padStart(12, "0");
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7333-8444-${String(this.#world.next()).padStart(12, "0")}`;
  }

  #usage(): Usage {
    const world = this.#world;
    const output = 1 + world.below(2000);
    const cacheWrite = world.chance(15, "cache write") ? world.below(3000) : 0;
    return {
      input: 1 + world.below(9000),
      output,
      cacheRead: world.chance(70) ? world.below(50_000) : 0,
      cacheWrite,
      reasoning: world.below(output),
    };
  }

  turn(thread: Thread): void {
    const world = this.#world;
    world.begin();
    const turnId = this.id();
    const model = world.pick(models);
    const lines = [
      this.line("event_msg", { type: "task_started", turn_id: turnId }),
      this.line("turn_context", { turn_id: turnId, cwd: "/home/ada/code/web", model }),
      this.line("response_item", said("user", `Question ${world.next()}`)),
    ];
    const requests = 1 + world.below(3);
    for (let request = 0; request < requests; request++) lines.push(...this.#request(thread, model));
    if (world.chance(30, "repeated total")) {
      for (const key of thread.keys) world.note(key, "repeated total");
      lines.push(this.#total(thread, undefined, { rate_limits: { primary: { used_percent: 3 } } }));
    }
    lines.push(this.line("event_msg", { type: "task_complete", turn_id: turnId }));
    thread.turns.push(lines);
    thread.lines.push(...lines);
  }

  #last: Usage = nothing();

  #total(thread: Thread, last = this.#last, more: Line = {}): Line {
    this.#last = last;
    const info = { total_token_usage: told(thread.total), last_token_usage: told(last), model_context_window: 272_000 };
    return this.line("event_msg", { type: "token_count", info, ...more });
  }

  #request(thread: Thread, model: string): Line[] {
    const world = this.#world;
    const usage = this.#usage();
    const kinds = [...thread.kinds];
    if (thread.hasRecords) kinds.push("records");
    if (usage.cacheWrite > 0) kinds.push("cache write");
    if (thread.turns.length > 0 && world.chance(4, "restarted")) {
      thread.total = nothing();
      kinds.push("restarted");
    }
    for (const name of ["input", "output", "cacheRead", "cacheWrite", "reasoning"] as const)
      thread.total[name] += usage[name];
    const lines = [this.line("response_item", said("assistant", `Answer ${world.next()}`))];
    if (thread.hasRecords) {
      const record = { thread_id: thread.id, response_id: `resp_${world.next()}`, usage: told(usage) };
      lines.push(this.line("token_usage_record", record));
    }
    lines.push(this.#total(thread, usage));
    const at = lines.at(-1)?.timestamp as string;
    thread.keys.add(world.use(agent, { model, at, tokens: usage }, ...kinds));
    return lines;
  }
}

/** Adds threads: some begin anew, some are forks, with their parent's turns written once more. */
export function addCodex(world: World): void {
  const write = new Writer(world);
  const threads: Thread[] = [];
  const count = 1 + world.below(3);
  for (let one = 0; one < count; one++) {
    const from = threads.length > 0 ? world.pick(threads) : undefined;
    const thread = from && world.chance(50, "fork") ? makeFork(from, write) : begin(world, write);
    if (thread.keys === from?.keys) for (const key of thread.keys) world.note(key, "fork");
    const turns = 1 + world.below(3);
    for (let turn = 0; turn < turns; turn++) write.turn(thread);
    threads.push(thread);
    save(world, thread);
  }
}

function begin(world: World, write: Writer): Thread {
  const id = write.id();
  const hasRecords = world.chance(40, "records");
  const meta = write.line("session_meta", { id, cwd: "/home/ada/code/web", cli_version: "0.171.0" });
  return { id, lines: [meta], keys: new Set(), turns: [], total: nothing(), hasRecords, kinds: [] };
}

/** A fork: it has its parent's turns, with new times, and goes on with its total. */
function makeFork(from: Thread, write: Writer): Thread {
  const id = write.id();
  const own = { id, forked_from_id: from.id, cwd: "/home/ada/code/web", cli_version: "0.171.0" };
  const lines = [write.line("session_meta", own)];
  const timestamp = lines[0]?.timestamp;
  const copied = from.lines.map((line) => ({ ...line, timestamp }));
  return {
    ...from,
    id,
    lines: [...lines, ...copied],
    turns: [...from.turns],
    total: { ...from.total },
    kinds: ["fork"],
  };
}

function save(world: World, { id, lines }: Thread): void {
  const time = String(lines[0]?.timestamp).slice(0, 19).replaceAll(":", "-");
  const [year, month, day] = time.slice(0, 10).split("-");
  const place = world.chance(15) ? "archived_sessions" : `sessions/${year}/${month}/${day}`;
  world.files.set(
    `.codex/${place}/rollout-${time}-${id}.jsonl`,
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
}
