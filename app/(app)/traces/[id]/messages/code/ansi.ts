export const controlStart = "\u001b";

/** Sequences that set and reset colours and styles (SGR: ECMA-48, 8.3.117). */
export const colours = new RegExp(`${controlStart}\\[[0-9;:]*m`, "g");

/** How far back a colour is looked for: one that was set before that, and never again, is rare, and outputs may be megabytes. */
const maxLookedAt = 64_000;

/** The colours and styles that are set where a text ends, as one sequence that sets them; "" where there are none. */
export function coloursAfter(text: string): string {
  const looked = text.slice(Math.max(text.lastIndexOf(`${controlStart}[0m`), text.length - maxLookedAt, 0));
  const set = new Map<string, string>();
  for (const [sequence] of looked.matchAll(colours)) applyTo(set, sequence.slice(2, -1).split(";"));
  return set.size === 0 ? "" : `${controlStart}[${[...set.values()].join(";")}m`;
}

/** Applies a sequence's codes to what is set: a colour of the letters, one behind them, and styles. */
function applyTo(set: Map<string, string>, codes: string[]): void {
  for (let at = 0; at < codes.length; at += 1) {
    const code = Number(codes[at]);
    if (code === 38 || code === 48) {
      // A colour of the table of 256, or one of three shares.
      const length = { 5: 3, 2: 5 }[Number(codes[at + 1])] ?? 1;
      if (length > 1) set.set(code === 38 ? "ink" : "ground", codes.slice(at, at + length).join(";"));
      at += length - 1;
    } else if (code === 0) set.clear();
    else if (code < 10) set.set(`style ${code}`, `${code}`);
    else if (code === 22) for (const style of [1, 2]) set.delete(`style ${style}`);
    else if (code < 30) set.delete(`style ${code - 20}`);
    else if (code === 39) set.delete("ink");
    else if (code === 49) set.delete("ground");
    else if (isWithin(code, 30, 37) || isWithin(code, 90, 97)) set.set("ink", `${code}`);
    else if (isWithin(code, 40, 47) || isWithin(code, 100, 107)) set.set("ground", `${code}`);
  }
}

const isWithin = (code: number, from: number, to: number) => code >= from && code <= to;
