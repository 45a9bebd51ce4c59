import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

type BenchMessage = { position: number; role: string; content: string; tokenCount: number; createdAt: string };
export type BenchTrace = {
  source: string;
  sourceId: string;
  model: string;
  createdAt: string;
  messages: BenchMessage[];
};

const realSessions = "../shared/data/real-sessions.json.gz";
const start = Date.parse("2026-01-01T00:00:00Z");

/** Message texts: of real sessions if they are next to the checkout, otherwise generated ones of similar sizes. */
export function loadTexts(): { texts: string[]; real: boolean } {
  if (!existsSync(realSessions)) return { texts: generateTexts(12_800), real: false };
  const { traces } = JSON.parse(gunzipSync(readFileSync(realSessions)).toString("utf8")) as {
    traces: { messages: { content: string }[] }[];
  };
  const texts = traces.flatMap(({ messages }) => messages.map(({ content }) => content));
  return { texts: texts.filter((text) => text.length < 8_000), real: true };
}

/** Source-like text with a median of 400 characters and a long tail, as in real sessions. Every call returns the same. */
function generateTexts(count: number): string[] {
  const words = "const await return function import export error value index result message session query row".split(
    " ",
  );
  let state = 7;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  const word = () =>
    words[Math.floor(random() * words.length)] + (random() < 0.3 ? `_${Math.floor(random() * 1e6)}` : "");
  return Array.from({ length: count }, () => {
    const length = Math.min(20_000, Math.round(400 * Math.exp(1.2 * (random() + random() + random() - 1.5))));
    let text = "";
    while (text.length < length) text += `${word()}(${word()}, "${word()}");\n`;
    return text.slice(0, length);
  });
}

/** A batch of traces whose ids contain `key`. */
export function makeTraces(texts: string[], key: string, traceCount: number, messagesEach: number): BenchTrace[] {
  return Array.from({ length: traceCount }, (_, trace) => ({
    source: "bench",
    sourceId: `${key}-${trace}`,
    model: "bench-model",
    createdAt: new Date(start + trace * 60_000).toISOString(),
    messages: Array.from({ length: messagesEach }, (_, position) => ({
      position,
      role: position % 2 ? "assistant" : "user",
      content: texts[(trace * messagesEach + position) % texts.length] ?? "",
      tokenCount: position,
      createdAt: new Date(start + trace * 60_000 + position * 1000).toISOString(),
    })),
  }));
}

export const makeBody = (traces: BenchTrace[]) => Buffer.from(JSON.stringify({ traces }));
