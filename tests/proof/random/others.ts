// Random sessions of Gemini CLI, Qwen Code, OpenCode, Pi and Copilot CLI.
import type { Line, Tokens, World } from "./world.ts";

type Usage = Tokens & { thoughts: number };

const jsonl = (lines: Line[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/** What a request of an API without writes to a cache used. @param perhaps whether it may have thoughts */
function usageIn(world: World, writes = false): Usage {
  const output = 1 + world.below(900);
  return {
    input: 1 + world.below(5000),
    output,
    cacheRead: world.chance(60) ? world.below(20_000) : 0,
    cacheWrite: writes && world.chance(50) ? world.below(3000) : 0,
    thoughts: world.chance(40, "thoughts") ? 1 + world.below(output) : 0,
  };
}

const thoughtful = ({ thoughts }: Usage) => (thoughts > 0 ? ["thoughts"] : []);
const cached = ({ cacheRead }: Usage) => (cacheRead > 0 ? ["cached"] : []);

/** Gemini's output leaves thoughts out; its input holds cached tokens. */
export function addGemini(world: World): void {
  const sessionId = world.id();
  const startTime = world.tick();
  const messages: Line[] = [];
  const turns = 1 + world.below(4);
  for (let turn = 0; turn < turns; turn++) {
    world.begin();
    const [model, usage] = [world.pick(["gemini-2.5-pro", "gemini-3-flash"]), usageIn(world)];
    const { input, output, cacheRead, thoughts } = usage;
    messages.push({ id: `m${world.next()}`, timestamp: world.tick(), type: "user", content: `Question ${turn}` });
    const told = { input: input + cacheRead, output: output - thoughts, cached: cacheRead, thoughts, tool: 0 };
    const tokens = { ...told, total: input + cacheRead + output };
    const timestamp = world.tick();
    messages.push({ id: `m${world.next()}`, timestamp, type: "gemini", content: `Answer ${turn}`, model, tokens });
    world.use("gemini-cli", { model, at: timestamp, tokens: usage }, ...thoughtful(usage), ...cached(usage));
  }
  const chat = { sessionId, projectHash: "web", startTime, lastUpdated: world.tick(), kind: "main", messages };
  const time = startTime.slice(0, 16).replace(":", "-");
  world.files.set(`.gemini/tmp/web/chats/session-${time}-${sessionId.slice(0, 8)}.json`, JSON.stringify(chat));
}

/** Qwen's candidates hold thoughts, its prompt the cached tokens. */
export function addQwen(world: World): void {
  const sessionId = world.id();
  const lines: Line[] = [];
  const record = (type: string, more: Line): string => {
    const timestamp = world.tick();
    lines.push({ uuid: `q${world.next()}`, sessionId, timestamp, type, cwd: "/code/api", version: "0.24.4", ...more });
    return timestamp;
  };
  const turns = 1 + world.below(4);
  for (let turn = 0; turn < turns; turn++) {
    world.begin();
    const usage = usageIn(world);
    const { input, output, cacheRead, thoughts } = usage;
    const counts = { promptTokenCount: input + cacheRead, candidatesTokenCount: output, thoughtsTokenCount: thoughts };
    record("user", { message: { role: "user", parts: [{ text: `Question ${turn}` }] } });
    const at = record("assistant", {
      message: { role: "model", parts: [{ text: `Answer ${turn}` }] },
      model: "qwen3-coder",
      usageMetadata: { ...counts, totalTokenCount: input + cacheRead + output, cachedContentTokenCount: cacheRead },
    });
    world.use("qwen-code", { model: "qwen3-coder", at, tokens: usage }, ...thoughtful(usage), ...cached(usage));
  }
  world.files.set(`.qwen/projects/-code-api/chats/${sessionId}.jsonl`, jsonl(lines));
}

const models: [provider: string, model: string][] = [
  ["anthropic", "claude-sonnet-4-20250514"],
  ["openai", "gpt-5.2"],
];

/** OpenCode's output leaves thoughts out. */
export function addOpenCode(world: World): void {
  const messages: Line[] = [];
  const session = `ses_${world.next()}`;
  const title = `Talk ${world.next()}`;
  const turns = 1 + world.below(4);
  for (let turn = 0; turn < turns; turn++) {
    world.begin();
    const [[providerID, modelID], usage] = [world.pick(models), usageIn(world, true)];
    const { input, output, cacheRead, cacheWrite, thoughts } = usage;
    messages.push({ role: "user", time: { created: Date.parse(world.tick()) } });
    const at = world.tick();
    const created = Date.parse(at);
    const cache = { read: cacheRead, write: cacheWrite };
    const total = input + output + cacheRead + cacheWrite;
    const tokens = { total, input, output: output - thoughts, reasoning: thoughts, cache };
    messages.push({ role: "assistant", providerID, modelID, time: { created, completed: created + 500 }, tokens });
    world.use("opencode", { model: modelID, at, tokens: usage }, ...thoughtful(usage));
  }
  saveOpenCode(world, { id: session, title }, messages);
  if (!world.chance(40, "opencode fork")) return;
  saveOpenCode(world, { id: `ses_${world.next()}`, title: `${title} (fork #1)` }, messages);
  for (const key of world.truth.keys()) if (key.startsWith("opencode")) world.note(key, "opencode fork");
}

function saveOpenCode(world: World, about: { id: string; title: string }, messages: Line[]): void {
  const store = ".local/share/opencode/storage";
  const created = Date.parse(world.tick());
  const session = { ...about, projectID: "p1", directory: "/code/web", version: "1.1.0", time: { created } };
  world.files.set(`${store}/session/p1/${about.id}.json`, JSON.stringify(session));
  for (const [index, message] of messages.entries()) {
    const [id, sessionID] = [`msg_${String(world.next()).padStart(8, "0")}`, about.id];
    world.files.set(`${store}/message/${sessionID}/${id}.json`, JSON.stringify({ id, sessionID, ...message }));
    const part = { id: `prt_${id}`, messageID: id, sessionID, type: "text", text: `Words ${index}` };
    world.files.set(`${store}/part/${id}/prt_${id}.json`, JSON.stringify(part));
  }
}

/** Pi's lines, and those of a fork, which have their times. */
export function addPi(world: World): void {
  const lines: Line[] = [];
  const turns = 1 + world.below(4);
  const talk = (count: number) => {
    for (let turn = 0; turn < count; turn++) {
      world.begin();
      const usage = usageIn(world, true);
      const { input, output, cacheRead, cacheWrite, thoughts } = usage;
      const line = (message: Line, timestamp = world.tick()) =>
        lines.push({ type: "message", id: `e${world.next()}`, timestamp, message });
      line({ role: "user", content: [{ type: "text", text: `Question ${world.next()}` }] });
      const told = { input, output, cacheRead, cacheWrite, reasoning: thoughts, cost: { total: 0.1 } };
      const content = [{ type: "text", text: `Answer ${world.next()}` }];
      const at = world.tick();
      line({ role: "assistant", model: "claude-opus-4-5", content, usage: told, stopReason: "stop" }, at);
      world.use("pi", { model: "claude-opus-4-5", at, tokens: usage });
    }
  };
  const save = (id: string, more: Line = {}, timestamp = world.tick()) => {
    const header = { type: "session", version: 3, id, timestamp, cwd: "/code/api", ...more };
    const path = `.pi/agent/sessions/--code-api--/${timestamp.replaceAll(/[:.]/g, "-")}_${id}.jsonl`;
    return () => world.files.set(path, jsonl([header, ...lines]));
  };
  const id = world.id();
  const first = save(id);
  talk(turns);
  first();
  if (!world.chance(40, "pi fork")) return;
  const fork = save(world.id(), { parentSession: `/x/2026-11-01T00-00-00-000Z_${id}.jsonl` });
  talk(1 + world.below(2));
  fork();
  for (const key of world.truth.keys()) if (key.startsWith("pi ")) world.note(key, "pi fork");
}

/** Copilot tells each request in newer versions, and each run's sum in all: runs that were killed have none. */
export function addCopilot(world: World): void {
  world.begin();
  const id = world.id();
  const lines: Line[] = [];
  const event = (type: string, data: Line): string => {
    const timestamp = world.tick();
    lines.push({ type, id: `v${world.next()}`, timestamp, data });
    return timestamp;
  };
  event("session.start", { sessionId: id, copilotVersion: "1.0.102", context: { cwd: "/code/api", branch: "main" } });
  const isRecorded = world.chance(60, "copilot records");
  const model = world.pick(["gpt-5", "claude-sonnet-4.5"]);
  const sum = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const turns = 1 + world.below(4);
  for (let turn = 0; turn < turns; turn++) {
    const usage = usageIn(world);
    const { input, output, cacheRead } = usage;
    const told = {
      inputTokens: input + cacheRead,
      outputTokens: output,
      cacheReadTokens: cacheRead,
      cacheWriteTokens: 0,
    };
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += told[name];
    const apiCallId = `call_${world.next()}`;
    event("user.message", { content: `Question ${turn}` });
    const recorded = isRecorded ? event("session.usage_record", { usage: { model, apiCallId, ...told, cost: 1 } }) : "";
    const at = event("assistant.message", { apiCallId, model, content: `Answer ${turn}`, outputTokens: output });
    const kinds = [...cached(usage), ...(recorded ? ["copilot records"] : [])];
    world.use("copilot-cli", { model, at, tokens: usage }, ...kinds);
  }
  if (!isRecorded || world.chance(60))
    event("session.shutdown", { currentModel: model, modelMetrics: { [model]: { usage: sum } } });
  world.files.set(`.copilot/session-state/${id}/events.jsonl`, jsonl(lines));
}
