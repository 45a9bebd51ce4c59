// A home with sessions as Claude Code 2.1.332 writes them: three quarters of the bytes are what was sent to the model.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadTexts } from "./corpus.ts";

type Line = Record<string, unknown>;

const { texts } = loadTexts();
const start = Date.parse("2026-11-01T08:00:00.000Z");
const makeId = (kind: string, number: number) =>
  `${kind.padEnd(8, "0")}-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;

/** Makes the lines of one session. */
class Session {
  readonly lines: Line[] = [];
  readonly #id: string;
  readonly #number: number;
  #parent: string | null = null;

  constructor(number: number) {
    this.#number = number;
    this.#id = makeId("5e5510", number);
  }

  text(longest: number): string {
    return (texts[(this.#number * 31 + this.lines.length * 7) % texts.length] ?? "").slice(0, longest);
  }

  /** Several texts behind each other, so many characters. */
  texts(length: number): string {
    let all = "";
    for (let at = this.#number * 17 + this.lines.length; all.length < length; at++)
      all += `${texts[at % texts.length]}\n`;
    return all.slice(0, length);
  }

  /** A line of the conversation. */
  line(fields: Line): void {
    const uuid = makeId("aaaa", this.#number * 1000 + this.lines.length);
    const timestamp = new Date(start + this.#number * 600_000 + this.lines.length * 1000).toISOString();
    const about = { userType: "external", entrypoint: "cli", cwd: `/home/ada/code/p${this.#number % 40}` };
    this.lines.push({
      parentUuid: this.#parent,
      isSidechain: false,
      ...fields,
      uuid,
      timestamp,
      ...about,
      sessionId: this.#id,
      version: "2.1.332",
      gitBranch: "main",
    });
    this.#parent = uuid;
  }

  state(type: string, fields: Line): void {
    this.lines.push({ type, ...fields, sessionId: this.#id });
  }

  /** What was sent to the model for an answer. */
  request(at: number): void {
    const id = `${this.#number}-${at}`;
    const message = { role: "user", content: [{ type: "text", text: this.texts(10_000) }] };
    this.lines.push({ type: "api-request-blob", sessionId: this.#id, hash: id, message });
    this.lines.push({ type: "api-request", sessionId: this.#id, id, params: { betas: [this.texts(1500)] } });
  }

  answer(at: number, content: Line): void {
    const usage = {
      input_tokens: 3 + at,
      cache_creation_input_tokens: 400 + at,
      cache_read_input_tokens: 12_000 + at * 400,
      output_tokens: 90 + at,
      server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
      service_tier: "standard",
      cache_creation: { ephemeral_1h_input_tokens: 400 + at, ephemeral_5m_input_tokens: 0 },
      speed: "standard",
    };
    const id = `msg_${this.#number}_${at}`;
    const message = { model: "claude-opus-4-8", id, type: "message", role: "assistant", content: [content] };
    const answer = { ...message, stop_reason: "tool_use", stop_sequence: null, usage };
    this.line({ message: answer, requestId: `req_${this.#number}_${at}`, type: "assistant", effort: "high" });
  }
}

function sessionLines(number: number): Line[] {
  const session = new Session(number);
  const snapshot = {
    messageId: makeId("5a4b", number),
    trackedFileBackups: {},
    timestamp: new Date(start).toISOString(),
  };
  session.state("mode", { mode: "normal" });
  session.state("permission-mode", { permissionMode: "default" });
  session.state("file-history-snapshot", { snapshot, isSnapshotUpdate: false });
  const prompt = { role: "user", content: `${session.text(600)} (${number})` };
  session.line({ promptId: makeId("9403", number), type: "user", message: prompt, permissionMode: "default" });
  const system = Array.from({ length: 4 }, (_, part) => `${part} ${session.texts(5000)}`);
  const shape = { system: system.map((text) => ({ type: "text", text })), tools: [] };
  session.lines.push({ type: "api-request-shape", sessionId: makeId("5e5510", number), shapeHash: "e2", shape });
  session.line({ attachment: { type: "prompt_snapshot", systemPrompt: system }, type: "attachment" });
  session.line({
    attachment: { type: "skill_listing", content: session.text(2000), skillCount: 9 },
    type: "attachment",
  });
  for (let at = 0; at < 4; at++) {
    session.request(at);
    session.answer(at, { type: "thinking", thinking: "", signature: "Q".repeat(600) });
    if (at % 2 === 0) session.answer(at, { type: "text", text: session.text(1200) });
    const input = { command: `npm test -- ${at} ${session.text(300)}`, description: "Runs the tests" };
    session.answer(at, { type: "tool_use", id: `toolu_${number}_${at}`, name: "Bash", input });
    const output = session.texts(2400);
    const content = [{ tool_use_id: `toolu_${number}_${at}`, type: "tool_result", content: output, is_error: false }];
    const toolUseResult = { stdout: output, stderr: "", interrupted: false, isImage: false };
    session.line({ type: "user", message: { role: "user", content }, toolUseResult });
  }
  session.request(4);
  session.answer(4, { type: "text", text: session.text(1500) });
  session.line({ type: "system", subtype: "turn_duration", durationMs: 9000 + number, isMeta: false });
  session.lines.push({ type: "tools-used", tools: ["Bash"], sessionId: makeId("5e5510", number) });
  session.state("last-prompt", { lastPrompt: session.text(200) });
  session.state("ai-title", { aiTitle: `Mend the timer ${number}` });
  return session.lines;
}

/** Writes so many sessions below a home. @returns their bytes, and how many of these are of requests */
export async function writeClaudeHome(home: string, count: number): Promise<{ bytes: number; requestBytes: number }> {
  let [bytes, requestBytes] = [0, 0];
  for (let number = 0; number < count; number++) {
    const folder = join(home, ".claude/projects", `-home-ada-code-p${number % 40}`);
    const lines = sessionLines(number).map((line) => `${JSON.stringify(line)}\n`);
    const isRequest = (line: string) =>
      /^\{"type":"(?:api-request|tools-used)/.test(line) || line.includes("prompt_snapshot");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${makeId("5e5510", number)}.jsonl`), lines.join(""));
    for (const line of lines) bytes += Buffer.byteLength(line);
    for (const line of lines.filter(isRequest)) requestBytes += Buffer.byteLength(line);
  }
  return { bytes, requestBytes };
}
