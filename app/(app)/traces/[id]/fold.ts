const most = { lines: 200, characters: 20_000 };
const shown = { lines: 30, characters: 3_000 };

/** A long text in two parts: what is shown, and what is folded away with the number of its lines. */
export function foldLongText(text: string): { head: string; rest?: { text: string; lines: number } } {
  const lines = countLines(text);
  if (lines <= most.lines && text.length <= most.characters) return { head: text };
  let end = 0;
  for (let line = 0; line < shown.lines; line += 1) {
    const next = text.indexOf("\n", end);
    if (next === -1 || next > shown.characters) break;
    end = next + 1;
  }
  // A first line that is longer than what is shown is cut, though never within a character.
  if (end === 0)
    end = /[\ud800-\udbff]/.test(text.charAt(shown.characters - 1)) ? shown.characters - 1 : shown.characters;
  const rest = text.slice(end);
  return { head: text.slice(0, end), rest: { text: rest, lines: countLines(rest) } };
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
