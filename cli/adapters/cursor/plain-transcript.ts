import { parseJson } from "../../files/json.ts";
import { lineTooLong, readLines } from "../../files/line-reader.ts";
import type { Message, Sink } from "../adapter.ts";
import { makeThought, makeToolCall, makeToolResult } from "../messages.ts";
import type { SessionBuilder } from "../session-builder.ts";
import { joinTexts } from "../values.ts";
import { readUserText } from "./text.ts";

const speaker = /^(user|assistant):\s*$/;
const heading = /^\[(Thinking|Tool call|Tool result)\] ?(.*)$/;

/** Text of 2025 has no ids, times and tokens, and mostly no results. */
export async function readPlainTranscript(path: string, sink: Sink, session: SessionBuilder): Promise<void> {
  const transcript = new PlainTranscript(sink, session);
  await readLines(path, (line) => transcript.add(line.replace(/\r$/, "")), {
    tooLong: (number) => sink.lost(lineTooLong(number)),
    pause: () => sink.pause(),
  });
  transcript.end();
}

class PlainTranscript {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  #role: string | undefined;
  #messages: Message[] = [];
  #heading: { kind: string; rest: string } | undefined;
  #lines: string[] = [];
  #calls = 0;

  constructor(sink: Sink, session: SessionBuilder) {
    this.#sink = sink;
    this.#session = session;
  }

  add(line: string): void {
    const [, role] = speaker.exec(line) ?? [];
    if (role !== undefined) {
      this.#endBlock();
      this.#role = role;
      return;
    }
    const [, kind, rest = ""] = (this.#role === "assistant" && heading.exec(line)) || [];
    const isBelow = line === "" || /^\s/.test(line);
    if (kind !== undefined || (this.#heading && !isBelow)) this.#endPart();
    if (kind !== undefined) this.#heading = { kind, rest };
    else this.#lines.push(line);
  }

  #endPart(): void {
    const { kind = "", rest = "" } = this.#heading ?? {};
    const lines = this.#lines;
    this.#heading = undefined;
    this.#lines = [];
    const text = dedent(lines);
    switch (kind) {
      case "Thinking":
        this.#push(makeThought(joinTexts([rest, text])));
        break;
      case "Tool call":
        this.#messages.push(makeToolCall(rest.trim() || "tool", `call-${++this.#calls}`, parseInput(text)));
        break;
      case "Tool result":
        this.#push(makeToolResult(text, { callId: this.#calls > 0 ? `call-${this.#calls}` : undefined }));
        break;
      default:
        if (this.#role === "user") this.#messages.push(...readUserText(lines.join("\n").trim()));
        else if (this.#role !== undefined) this.#push({ role: "assistant", content: lines.join("\n").trim() });
    }
  }

  #push(message: Message): void {
    if (message.content.trim() !== "") this.#messages.push(message);
  }

  #endBlock(): void {
    this.#endPart();
    if (this.#role === undefined) return;
    this.#sink.entry();
    this.#session.add(this.#messages);
    this.#messages = [];
  }

  end(): void {
    this.#endBlock();
    this.#session.end();
  }
}

function dedent(lines: string[]): string {
  const filled = lines.filter((line) => line.trim() !== "");
  const indent = Math.min(...filled.map((line) => line.length - line.trimStart().length), 1000);
  return lines
    .map((line) => line.slice(indent))
    .join("\n")
    .trim();
}

function parseInput(text: string): unknown {
  if (text === "") return undefined;
  const parsed = /^[[{]/.test(text) ? parseJson(text) : undefined;
  if (parsed !== undefined) return parsed;
  if (/^(?:\*\*\* Begin Patch|@@)/.test(text)) return { patch: text };
  const fields = text.split("\n").map((line) => /^([\w-]{1,64})(?:: ?|=)(.*)$/.exec(line));
  if (fields.some((field) => field === null)) return text;
  return Object.fromEntries(fields.map((field) => [field?.[1] ?? "", field?.[2] ?? ""]));
}
