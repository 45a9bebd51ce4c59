/** A text in tags: `start` and `end` include the tags. */
export type Tagged = { start: number; end: number; name: string; inner: string };

/** A regular expression would search for a missing closing tag from each opening tag. */
export function findTagged(text: string, ...names: readonly string[]): Tagged[] {
  const found: Tagged[] = [];
  const opening = new RegExp(`<(${names.join("|")})>`, "g");
  const closings = new Map<string, number>();
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const [tag, name = ""] = match;
    const from = match.index + tag.length;
    let to = closings.get(name) ?? 0;
    if (to !== -1 && to < from) to = text.indexOf(`</${name}>`, from);
    closings.set(name, to);
    if (to === -1) continue;
    opening.lastIndex = to + name.length + 3;
    found.push({ start: match.index, end: opening.lastIndex, name, inner: text.slice(from, to) });
  }
  return found;
}

export function splitTaggedWords(text: string, tag: string): { words: string[]; around: string } | undefined {
  const tagged = findTagged(text, tag);
  if (tagged.length === 0) return undefined;
  const words = tagged.map(({ inner }) => inner.replace(/^\s/, "").replace(/\s$/, ""));
  return { words: words.filter((one) => one.trim() !== ""), around: replaceTagged(text, tagged).trim() };
}

export function replaceTagged(
  text: string,
  found: readonly Tagged[],
  by: (tagged: Tagged) => string = () => "",
): string {
  let [rest, at] = ["", 0];
  for (const tagged of found) {
    rest += text.slice(at, tagged.start) + by(tagged);
    at = tagged.end;
  }
  return rest + text.slice(at);
}
