import "server-only";

/** Some repeated marks take the Markdown parser seconds or overflow its stack. */
const bounds = {
  characters: 16_000,
  containers: 16,
  fencedContainers: 100,
  indent: 64,
  cells: 5000,
  depth: 64,
  nodes: 20_000,
  /** The sum over paragraphs of their delimiters squared. */
  work: 1_000_000,
  fencedWork: 9_000_000,
};

export function isAffordable(text: string): boolean {
  if (text.length > bounds.characters) return false;
  const work = { plain: 0, fenced: 0 };
  let delimiters = 0;
  let fence = "";
  const endParagraph = () => {
    work[fence ? "fenced" : "plain"] += delimiters ** 2;
    delimiters = 0;
  };
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && (fence === "" || (mark.startsWith(fence) && line.trim() === mark))) {
      endParagraph();
      fence = fence === "" ? mark : "";
    } else if (line.trim() === "") endParagraph();
    else if (countContainers(line) > (fence ? bounds.fencedContainers : bounds.containers)) return false;
    else delimiters += countDelimiters(line);
  }
  endParagraph();
  return work.plain <= bounds.work && work.fenced <= bounds.fencedWork;
}

/** Deep indentation counts as many containers. */
function countContainers(line: string): number {
  const marker = /[ \t]*(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))/y;
  let count = 0;
  for (let found = marker.exec(line); found; found = marker.exec(line)) {
    count += found[0].length > bounds.indent ? bounds.containers + 1 : 1;
  }
  return count;
}

const delimiterCodes = new Set([..."*_~[]`<@"].map((character) => character.charCodeAt(0)));

function countDelimiters(line: string): number {
  let count = 0;
  for (let at = 0; at < line.length; at += 1) if (delimiterCodes.has(line.charCodeAt(at))) count += 1;
  return count;
}

export class TooMuch extends Error {}

type Node = { type: string; children?: Node[]; align?: unknown[] | null };

export function bounded() {
  return (tree: Node) => {
    const waiting: [node: Node, depth: number][] = [[tree, 0]];
    let nodes = 0;
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [{ type, children = [], align }, depth] = next;
      nodes += 1;
      const cells = type === "table" ? (align?.length ?? 0) * children.length : 0;
      if (depth > bounds.depth || nodes > bounds.nodes || cells > bounds.cells) throw new TooMuch();
      for (const child of children) waiting.push([child, depth + 1]);
    }
  };
}

export function safeHref(address: string | undefined): string | undefined {
  if (!address || address.length > 4096) return undefined;
  if (!/^(?:https?:\/\/|mailto:)/i.test(address) || !URL.canParse(address)) return undefined;
  return address;
}

type HeadingNode = { type: string; depth?: number; children?: HeadingNode[]; data?: object };

/** A remark plugin: headings start below the page's own and skip no level. */
export function headings() {
  return (tree: HeadingNode): void => {
    let before = 0;
    const visit = (node: HeadingNode): void => {
      if (node.type === "heading" && node.depth) {
        before = Math.min(node.depth, before + 1, 4);
        node.data = { hName: `h${before + 2}`, hProperties: { className: [`prose-h${Math.min(node.depth, 3)}`] } };
      }
      node.children?.forEach(visit);
    };
    visit(tree);
  };
}
