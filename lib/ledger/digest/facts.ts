/** `at` is in seconds since 1970, 0 if unknown. */
export type Fact = { position: number; at: number; turns: number; calls: number; errors: number };

export const factBytes = 11;

export function packFacts(facts: Fact[]): Buffer {
  const packed = Buffer.alloc(facts.length * factBytes);
  let to = 0;
  for (const { position, at, turns, calls, errors } of facts) {
    packed.writeUInt32BE(position, to);
    packed.writeUInt32BE(Math.min(Math.max(at, 0), 2 ** 32 - 1), to + 4);
    for (const [place, count] of [turns, calls, errors].entries()) packed[to + 8 + place] = Math.min(count, 255);
    to += factBytes;
  }
  return packed;
}

export function unpackFacts(packed: Uint8Array, before: number): Fact[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const facts: Fact[] = [];
  for (let from = 0; from + factBytes <= bytes.length; from += factBytes) {
    const position = bytes.readUInt32BE(from);
    if (position >= before) break;
    const [turns = 0, calls = 0, errors = 0] = bytes.subarray(from + 8, from + factBytes);
    facts.push({ position, at: bytes.readUInt32BE(from + 4), turns, calls, errors });
  }
  return facts;
}

/** A longer silence is a pause and does not count as active time. */
export const pauseSeconds = 300;

type Course = {
  turnCount: number;
  callCount: number;
  errorCount: number;
  activeSeconds: number;
  spark: string | null;
};

export function summarizeFacts(facts: Fact[]): Course {
  const sum = (of: "turns" | "calls" | "errors") => facts.reduce((total, fact) => total + fact[of], 0);
  const times = facts.flatMap(({ at }) => (at > 0 ? [at] : []));
  const gaps = times.map((at, index) => at - (times[index - 1] ?? at)).filter((gap) => gap > 0 && gap <= pauseSeconds);
  return {
    turnCount: sum("turns"),
    callCount: sum("calls"),
    errorCount: sum("errors"),
    activeSeconds: gaps.reduce((total, gap) => total + gap, 0),
    spark: drawSpark(times),
  };
}

const sparkParts = 16;

/** Digits from 0 to 9; null if there is nothing to draw. */
function drawSpark(times: number[]): string | null {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const at of times) [first, last] = [Math.min(first, at), Math.max(last, at)];
  if (times.length < 3 || last <= first) return null;
  const counts = new Array<number>(sparkParts).fill(0);
  for (const at of times) {
    const part = Math.min(sparkParts - 1, Math.floor(((at - first) * sparkParts) / (last - first)));
    counts[part] = (counts[part] ?? 0) + 1;
  }
  const most = Math.max(...counts);
  return counts.map((count) => Math.ceil((9 * Math.sqrt(count)) / Math.sqrt(most))).join("");
}
