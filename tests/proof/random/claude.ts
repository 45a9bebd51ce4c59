// Random sessions of Claude Code, in the states in which its files are found.
import type { Line, Tokens, World } from "./world.ts";

const models = ["claude-opus-4-8", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "claude-opus-5-5"];
const folder = ".claude/projects/-home-ada-code-api";
const agent = "claude-code";

type Session = { id: string; lines: Line[]; kinds: string[]; own?: Line };
type Usage = Tokens & { hour: number };

const sum = (...all: Usage[]): Usage =>
  all.reduce((one, other) => ({
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    hour: one.hour + other.hour,
  }));

const told = ({ input, output, cacheRead, cacheWrite, hour }: Usage): Line => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite,
  cache_creation: { ephemeral_5m_input_tokens: cacheWrite - hour, ephemeral_1h_input_tokens: hour },
});

class Writer {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  #line(session: Session, fields: Line): Line {
    const world = this.#world;
    const uuid = `${String(world.next()).padStart(8, "0")}-aaaa-4bbb-8ccc-dddddddddddd`;
    const about = { sessionId: session.id, cwd: "/home/ada/code/api", version: "2.1.332", gitBranch: "main" };
    return { isSidechain: false, ...about, uuid, timestamp: world.tick(), ...session.own, ...fields };
  }

  say(session: Session, content: unknown): void {
    session.lines.push(this.#line(session, { type: "user", message: { role: "user", content } }));
  }

  #usage(): Usage {
    const { below, chance } = bound(this.#world);
    const cacheWrite = chance(60) ? below(5000) : 0;
    const hour = chance(50) ? Math.floor(cacheWrite / (1 + below(2))) : 0;
    return {
      input: 1 + below(3000),
      output: 2 + below(2000),
      cacheRead: chance(70) ? below(90_000) : 0,
      cacheWrite,
      hour,
    };
  }

  /** The requests that an answer's usage names, and those of them that its own numbers leave out or hold of other models. */
  #requests(model: string, first: Usage): { usage: Line; own: Usage; others: [string, Usage][]; kinds: string[] } {
    const { chance, pick } = bound(this.#world);
    const part = (type: string, usage: Usage, more: Line = {}) => ({ type, ...told(usage), ...more });
    const main = part("message", first);
    if (chance(8, "advisor")) {
      const [advice, second] = [this.#usage(), this.#usage()];
      const own = sum(first, second);
      const other = pick(models.filter((one) => one !== model));
      const iterations = [main, part("advisor_message", advice, { model: other }), part("message", second)];
      return { usage: { ...told(own), iterations }, own, others: [[other, advice]], kinds: ["advisor"] };
    }
    if (chance(6, "compaction")) {
      const compaction = this.#usage();
      const usage = { ...told(first), iterations: [part("compaction", compaction), main] };
      return { usage, own: sum(first, compaction), others: [], kinds: ["compaction"] };
    }
    if (chance(6, "fallback")) {
      const declined = { ...this.#usage(), output: 1 };
      const other = pick(models.filter((one) => one !== model));
      const iterations = [part("message", declined, { model: other }), part("fallback_message", first, { model })];
      return { usage: { ...told(first), iterations }, own: first, others: [[other, declined]], kinds: ["fallback"] };
    }
    const second = chance(8) ? this.#usage() : undefined; // after a tool of the server's
    const own = second ? sum(first, second) : first;
    const usage = second ? { ...told(own), iterations: [main, part("message", second)] } : told(own);
    return { usage, own, others: [], kinds: [] };
  }

  /** @returns whether it called tools, whose results follow */
  answer(session: Session, ids: "own" | "no request id" | "none" | "reused" = "own"): boolean {
    const world = this.#world;
    world.begin();
    const { below, chance, pick } = bound(world);
    const model = pick(models);
    const { usage, own, others, kinds } = this.#requests(model, this.#usage());
    const number = ids === "reused" ? 1 : world.next();
    const id = ids === "none" ? undefined : `msg_${number}`;
    const requestId = ids === "own" || ids === "reused" ? `req_${number}` : undefined;
    const all = [...kinds, ...session.kinds, ...(ids === "own" ? [] : [`ids: ${ids}`])];
    const calls = below(3);
    const blocks: Line[] = [
      ...(chance(40) ? [{ type: "thinking", thinking: `Where is ${number}?`, signature: "s" }] : []),
      { type: "text", text: `So ${world.next()}.` },
      ...Array.from({ length: calls }, () => call(`toolu_${world.next()}`)),
    ];
    const grows = chance(40, "streamed");
    if (grows && blocks.length > 1) all.push("streamed");
    let at = "";
    for (const [index, block] of blocks.entries()) {
      const isLast = index === blocks.length - 1;
      const whole = usage.output_tokens as number;
      const output = grows && !isLast ? Math.min(1 + index, whole) : whole;
      const message = { id, type: "message", role: "assistant", model, content: [block] };
      const line = this.#line(session, {
        type: "assistant",
        apiBlockIndex: index,
        requestId,
        message: {
          ...message,
          usage: { ...usage, output_tokens: output, service_tier: "standard", speed: "standard" },
        },
      });
      session.lines.push(line);
      at ||= line.timestamp as string;
      if (!isLast && chance(20, "api lines")) session.lines.push(...requestLines(session.id, usage));
    }
    this.#count(at, [[model, own], ...others], all);
    for (const { id: callId } of blocks.slice(-calls || blocks.length)) {
      this.say(session, [{ type: "tool_result", tool_use_id: callId, content: `${below(9)} passed` }]);
    }
    return calls > 0;
  }

  #count(at: string, used: [string, Usage][], kinds: string[]): void {
    for (const [model, tokens] of used) this.#world.use(agent, { model, at, tokens }, ...kinds);
  }

  /** What the program says itself, which no model wrote. */
  synthetic(session: Session): void {
    const message = { id: `syn_${this.#world.next()}`, role: "assistant", model: "<synthetic>" };
    const content = [{ type: "text", text: "No response requested." }];
    const usage = told({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, hour: 0 });
    session.lines.push(this.#line(session, { type: "assistant", message: { ...message, content, usage } }));
  }

  turns(session: Session, count: number): void {
    const { chance, pick } = bound(this.#world);
    const ids = chance(15, "ids") ? pick(["no request id", "none", "reused"] as const) : ("own" as const);
    for (let turn = 0; turn < count; turn++) {
      this.say(session, `Question ${this.#world.next()}`);
      const goesOn = this.answer(session, ids);
      if (goesOn && chance(40)) this.answer(session, ids);
      if (chance(8)) this.synthetic(session);
      if (chance(20, "sidechain")) this.#sidechain(session);
    }
  }

  /** A sub-agent of versions that wrote it into the session's own file. */
  #sidechain(session: Session): void {
    session.own = { isSidechain: true };
    this.say(session, `Task ${this.#world.next()}`);
    this.answer(session);
    delete session.own;
  }
}

const call = (id: string): Line => ({ type: "tool_use", id, name: "Bash", input: { command: `npm test ${id}` } });

/** What was sent to the model, as version 2.1.332 writes it: it repeats what was said and has no usage of its own. */
const requestLines = (sessionId: string, usage: Line): Line[] => [
  { type: "api-request", sessionId, id: "7f9834c8-ed29-49f7-87af-a1c779ccccb0", params: { betas: [] } },
  { type: "api-request-blob", sessionId, hash: "54", message: { role: "assistant", content: "So.", usage } },
  { type: "tools-used", sessionId, tools: ["Bash"] },
];

const bound = (world: World) => ({
  below: world.below.bind(world),
  chance: world.chance.bind(world),
  pick: world.pick.bind(world) as World["pick"],
});

/** Adds a family of sessions: some begin anew, some come from others. */
export function addClaude(world: World): void {
  const write = new Writer(world);
  const { below, chance, pick } = bound(world);
  const sessions: Session[] = [];
  const begin = (kinds: string[], lines: Line[] = [], id = world.id()) => {
    const session = { id, lines, kinds };
    sessions.push(session);
    return session;
  };
  const count = 1 + below(4);
  for (let one = 0; one < count; one++) {
    const from = sessions.length > 0 ? pick(sessions) : undefined;
    if (from && chance(60, "copies")) writeCopy(from, write, { world, begin });
    else write.turns(begin([]), 1 + below(4));
  }
  for (const session of sessions) save(world, session);
  if (chance(40, "agents")) addAgent(world, write, pick(sessions));
}

type Maker = { world: World; begin: (kinds: string[], lines: Line[], id?: string) => Session };

/** A session that another one's lines were copied into, or that has its own once more. */
function writeCopy(from: Session, write: Writer, { world, begin }: Maker): void {
  const kind = world.pick(["resumed", "same ids", "fork", "branch", "replay"]);
  const id = world.id();
  const cut = kind === "branch" ? 1 + world.below(from.lines.length) : from.lines.length;
  const copied = from.lines.slice(0, cut).map((line) => {
    if (kind === "same ids" || kind === "replay") return line;
    const forkedFrom = kind === "resumed" ? {} : { forkedFrom: { sessionId: from.id, messageUuid: line.uuid } };
    return { ...line, sessionId: id, ...forkedFrom };
  });
  if (kind === "replay") from.lines.push(...copied.slice(world.below(copied.length)));
  const session = kind === "replay" ? from : begin([], copied, id);
  if (world.chance(80)) write.turns(session, 1 + world.below(2));
}

/** A sub-agent in a file of its own. */
function addAgent(world: World, write: Writer, parent: Session): void {
  const agentId = `ab${world.next()}`;
  const own = { isSidechain: true, agentId };
  const session: Session = { id: parent.id, lines: [], kinds: [], own };
  write.say(session, `Task ${world.next()}`);
  write.answer(session);
  save(world, session, `${folder}/${parent.id}/subagents/agent-${agentId}.jsonl`);
}

function save(world: World, { id, lines }: Session, path = `${folder}/${id}.jsonl`): void {
  const isSpaced = world.chance(5, "spaced");
  const texts = lines.map((line) => {
    const json = JSON.stringify(line);
    return isSpaced ? json.replaceAll('":', '": ') : json;
  });
  if (isSpaced) for (const key of world.truth.keys()) if (key.startsWith(agent)) world.note(key, "spaced");
  let text = "";
  for (const json of texts) {
    if (world.chance(2, "broken")) {
      text += `${json.slice(0, 1 + world.below(40))}${world.chance(50) ? json : `\0\0${json}`}\n`;
      for (const key of world.truth.keys()) if (key.startsWith(agent)) world.note(key, "broken");
    } else text += `${json}\n`;
  }
  world.files.set(path, text);
}
