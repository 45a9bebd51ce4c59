/** A text in tags: from its opening tag to behind its closing one, and what stands between them. */
export type Tagged = { start: number; end: number; name: string; inner: string };

/**
 * The texts in tags of some names, in their order. What is never closed is none, and is looked for once: a regular expression
 * would search to the end of a stranger's text from each of its opening tags.
 */
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

/** A text with something else in the place of texts in tags; by default nothing. */
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
