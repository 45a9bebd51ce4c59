// What the stand-in and the APIs that it speaks tell each other.
import { createHash } from "node:crypto";

/** Each answer's tokens, apart: `input` without those of the cache, `output` without the thoughts'. */
export type Tokens = {
  input: number;
  output: number;
  reasoning: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
};

export type Result = { callId?: string; text: string; isError?: boolean; pictures: string[] };

/** What one side said before the other spoke; an agent's answer that comes in several pieces is one turn. */
export type Turn = { role: "user" | "assistant"; text: string; results: Result[] };

export type Tool = {
  name: string;
  namespace?: string;
  /** Its input is a text, not an object. */
  isText?: boolean;
  about: string;
  schema?: { properties?: Record<string, unknown> };
};

export type Asked = {
  model: string;
  streams: boolean;
  system: string;
  turns: Turn[];
  tools: Tool[];
  /** The shape that the answer must have, as JSON. */
  form: string;
};

export type Call = { id: string; name: string; namespace?: string; input: unknown; isText?: boolean };

export type Answer = {
  id: string;
  model: string;
  thinking?: string;
  text?: string;
  calls: Call[];
  tokens: Tokens;
  isCutOff?: boolean;
};

/** Where a stream waits for good, in the middle of its text. */
export const hold = Symbol("hold");

export type Api = {
  name: string;
  /** The input of its requests names what came from the cache and was written to it. */
  tells: readonly (keyof Tokens)[];
  read: (body: never, path: string) => Asked;
  write: (answer: Answer, streams: boolean) => Generator<string | typeof hold>;
  failure: (status: number) => unknown;
};

/** A text in pieces, as models send them; letters of several code units stay whole. */
export function pieces(text: string): string[] {
  const letters = [...text];
  const count = Math.max(1, Math.ceil(letters.length / 50));
  return Array.from({ length: count }, (_, at) => letters.slice(at * 50, at * 50 + 50).join(""));
}

/** The pieces of a text with a place to hold behind the first. */
export function* heldPieces(text: string): Generator<string | typeof hold> {
  const [first = "", ...others] = pieces(text);
  yield first;
  yield hold;
  yield* others;
}

export const event = (data: unknown, name?: string): string =>
  `${name ? `event: ${name}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** A content's text: all of it is one, or its blocks have texts. */
export function toText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: { text?: unknown }) => (typeof block?.text === "string" ? block.text : ""))
    .filter(Boolean)
    .join("\n");
}

/** The SHA-256 of each picture in a content's blocks, in hex. */
export const hashPictures = (content: unknown): string[] =>
  Array.isArray(content) ? content.filter(({ type }) => /image/.test(type)).flatMap(hashData) : [];

/** The SHA-256 of the bytes whose Base64 is somewhere in a value; of what is only named it is that of no bytes. */
export function hashData(value: unknown): string {
  const [, data = ""] = /"(?:data:image\/\w+;base64,)?([A-Za-z0-9+/]{40,}={0,2})"/.exec(JSON.stringify(value)) ?? [];
  return createHash("sha256").update(Buffer.from(data, "base64")).digest("hex");
}

/** Adds a turn, or its content to the turn before where the same side goes on. */
export function addTurn(turns: Turn[], role: Turn["role"], text: string, results: Result[] = []): void {
  const last = turns.at(-1);
  if (last?.role !== role) turns.push({ role, text, results });
  else {
    last.text = [last.text, text].filter(Boolean).join("\n");
    last.results.push(...results);
  }
}
