/** Paints matches over the page's text by the CSS Custom Highlight API: nothing of the messages' elements changes. */

const names = { all: "find", current: "find-current" } as const;

/** The case of each UTF-16 unit folded by itself, so that places in the text stay the same. */
const folded = (text: string) => {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return [...text]
    .map((letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter))
    .join("");
};

/** Where a text stands within an element, over the borders of its parts: highlighted code is many of them. */
export function rangesOf(element: Element, wanted: string): Range[] {
  const nodes: { node: Text; start: number }[] = [];
  let text = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node: node as Text, start: text.length });
    text += (node as Text).data;
  }
  const searched = folded(text);
  const sought = folded(wanted);
  const ranges: Range[] = [];
  let index = 0;
  for (let at = searched.indexOf(sought); at !== -1; at = searched.indexOf(sought, at + sought.length)) {
    const range = new Range();
    for (const [edge, place] of [
      ["setStart", at],
      ["setEnd", at + sought.length],
    ] as const) {
      while ((nodes[index + 1]?.start ?? Number.POSITIVE_INFINITY) < place + (edge === "setStart" ? 1 : 0)) index += 1;
      const part = nodes[index];
      if (part) range[edge](part.node, place - part.start);
    }
    ranges.push(range);
  }
  return ranges;
}

/** Paints these ranges, and one of them as the current one. Without support, the messages are still jumped to and marked. */
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
