const names = { all: "find", current: "find-current" } as const;

/** Keeps offsets: skips characters whose lower case has another length. */
const folded = (text: string) => {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return [...text]
    .map((letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter))
    .join("");
};

/** Highlighted code has many text nodes. */
export function findRanges(element: Element, sought: string): Range[] {
  const nodes: { node: Text; start: number }[] = [];
  let text = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node: node as Text, start: text.length });
    text += (node as Text).data;
  }
  const searched = folded(text);
  const key = folded(sought);
  const ranges: Range[] = [];
  let index = 0;
  for (let at = searched.indexOf(key); at !== -1; at = searched.indexOf(key, at + key.length)) {
    const range = new Range();
    for (const [edge, place] of [
      ["setStart", at],
      ["setEnd", at + key.length],
    ] as const) {
      while ((nodes[index + 1]?.start ?? Number.POSITIVE_INFINITY) < place + (edge === "setStart" ? 1 : 0)) index += 1;
      const part = nodes[index];
      if (part) range[edge](part.node, place - part.start);
    }
    ranges.push(range);
  }
  return ranges;
}

/** Browsers without support still jump to the message. */
export function paint(ranges: Range[], current?: Range): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.set(names.all, new Highlight(...ranges));
  if (current) CSS.highlights.set(names.current, new Highlight(current));
  else CSS.highlights.delete(names.current);
}

export function unpaint(): void {
  if (!("highlights" in CSS)) return;
  for (const name of Object.values(names)) CSS.highlights.delete(name);
}
