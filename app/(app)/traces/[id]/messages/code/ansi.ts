export const controlStart = "\u001b";

/** SGR sequences (ECMA-48, 8.3.117) set and reset colours and styles. */
export const colours = new RegExp(`${controlStart}\\[[0-9;:]*m`, "g");

const maxLookedAt = 64_000;

export function coloursAfter(text: string): string {
  const looked = text.slice(Math.max(text.lastIndexOf(`${controlStart}[0m`), text.length - maxLookedAt, 0));
  const set = new Map<string, string>();
  for (const [sequence] of looked.matchAll(colours)) applyTo(set, sequence.slice(2, -1).split(";"));
  return set.size === 0 ? "" : `${controlStart}[${[...set.values()].join(";")}m`;
}

function applyTo(set: Map<string, string>, codes: string[]): void {
  for (let at = 0; at < codes.length; at += 1) {
    const code = Number(codes[at]);
    if (code === 38 || code === 48) {
      // A colour of the 256 table, or three components.
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
