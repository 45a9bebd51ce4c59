import { type Json, mutate, toJson, write } from "./json.ts";
import type { Random } from "./random.ts";

const words = [
  "const",
  "await",
  "é",
  "\u20ac",
  "\u{1f600}",
  '"',
  "\\",
  "\n",
  "\t",
  "\u0001",
  "src/lib/x.ts",
  "\ud800",
  "\0",
];

function text(random: Random, marker: string): string {
  const length = random.oneIn(40) ? 3000 : random.below(30);
  return marker + Array.from({ length }, () => random.pick(words)).join(random.pick([" ", ""]));
}

const moment = (random: Random) => new Date(Date.UTC(2026, 0, 1) + random.below(2 ** 31) * 10).toISOString();

function message(random: Random, marker: string, position: number) {
  return {
    position,
    content: text(random, marker),
    ...(random.oneIn(4) ? {} : { role: random.pick(["user", "assistant", "tool", "system"]) }),
    ...(random.oneIn(2) ? { tokenCount: random.below(5000) } : {}),
    ...(random.oneIn(2) ? { createdAt: moment(random) } : {}),
    ...(random.oneIn(6) ? { metadata: { tool: marker, n: [1, null, { a: 0.5 }] } } : {}),
    ...(random.oneIn(10) ? { cwd: `/home/${marker}` } : {}),
  };
}

/** A valid trace, whose key is unique to its case. */
export function makeTrace(random: Random, marker: string, name: string, messages = random.below(6)) {
  const step = random.oneIn(5) ? 7 : 1;
  const list = Array.from({ length: messages }, (_, at) => message(random, marker, at * step));
  if (random.oneIn(6)) list.reverse();
  return {
    sourceId: `${marker}${name}`,
    ...(random.oneIn(3) ? {} : { source: random.pick(["claude-code", "codex", "é"]) }),
    ...(random.oneIn(2) ? { model: "m-1", title: text(random, marker).slice(0, 512) } : {}),
    ...(random.oneIn(3) ? { createdAt: moment(random), project: "/srv/x" } : {}),
    ...(random.oneIn(5) ? { metadata: { branch: marker, deep: { b: [true], a: 1e21 } } } : {}),
    ...(random.oneIn(8) ? { version: "1.2.3" } : {}),
    messages: list,
  };
}

/** A valid batch. */
function makeBatch(random: Random, marker: string): { traces: ReturnType<typeof makeTrace>[] } {
  const count = random.oneIn(30) ? 40 : random.below(4);
  return { traces: Array.from({ length: count }, (_, at) => makeTrace(random, marker, `t${at}`)) };
}

/** The bytes of a valid batch, in one of the ways to write JSON. */
export function soundBody(random: Random, marker: string): Buffer {
  return Buffer.from(write(toJson(makeBatch(random, marker)), random));
}

/** The bytes of a batch with one to four changes to its structure; many are still valid batches. */
export function changedBody(random: Random, marker: string, value: unknown = makeBatch(random, marker)): Buffer {
  const json: Json = toJson(value);
  for (let changes = random.below(4); changes >= 0; changes -= 1) mutate(json, random, marker);
  return Buffer.from(write(json, random));
}
