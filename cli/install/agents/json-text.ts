export type JsonNode = {
  start: number;
  end: number;
  members?: { key: string; start: number; value: JsonNode }[];
  items?: JsonNode[];
};

/** Replaces comments by blanks, so that `JSON.parse` accepts the text and all positions stay. */
export const blankComments = (text: string): string =>
  text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) =>
    part.startsWith('"') ? part : part.replace(/[^\r\n]/g, " "),
  );

export function parsePlaces(text: string): JsonNode {
  let at = 0;
  const skipSpace = () => {
    while (/\s/.test(text[at] ?? "")) at++;
  };
  const string = (): string => {
    const start = at++;
    while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    return JSON.parse(text.slice(start, ++at)) as string;
  };
  const value = (): JsonNode => {
    skipSpace();
    const start = at;
    if (text[at] === "{") return { start, members: list("}", member), end: at };
    if (text[at] === "[") return { start, items: list("]", value), end: at };
    if (text[at] === '"') string();
    else while (/[\w.+-]/.test(text[at] ?? "")) at++;
    return { start, end: at };
  };
  const member = () => {
    const start = at;
    const key = string();
    skipSpace();
    at++;
    return { key, start, value: value() };
  };
  const list = <One>(closing: string, read: () => One): One[] => {
    const all: One[] = [];
    for (at++, skipSpace(); text[at] !== closing; skipSpace()) {
      if (text[at] === ",") at++;
      skipSpace();
      all.push(read());
    }
    at++;
    return all;
  };
  return value();
}

/** If several members have one name, the last counts. */
export const findMember = (node: JsonNode | undefined, key: string) =>
  node?.members?.findLast((one) => one.key === key);

const listParts = ({ members, items }: JsonNode): { start: number; end: number }[] =>
  members?.map(({ start, value }) => ({ start, end: value.end })) ?? items ?? [];

/** Makes an insertion in the style of the text around it: at the end, or at the beginning if a comment is last. */
export function makeInsertion(
  text: string,
  node: JsonNode,
  depth: number,
  render: (indent: string, unit: string, line: string) => string,
): { offset: number; inserted: string } {
  const parts = listParts(node);
  const last = parts.at(-1);
  const line = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const isOpen = text.slice(node.start, node.end).includes("\n");
  if (last && !isOpen) return { offset: last.end, inserted: `, ${render("", "", "")}` };
  const first = parts[0];
  const own = first && /(?<=\n)[ \t]*$/.exec(text.slice(0, first.start))?.[0];
  const indent = own || unit.repeat(depth + 1);
  const entry = line + indent + render(indent, unit, line);
  if (last && text.slice(last.end, node.end - 1).trim() === "") return { offset: last.end, inserted: `,${entry}` };
  if (last) return { offset: node.start + 1, inserted: `${entry},` };
  return { offset: node.start + 1, inserted: entry + (isOpen ? "" : line + unit.repeat(depth)) };
}

export function removePart(text: string, node: JsonNode, index: number): string {
  const parts = listParts(node);
  const [before, part, after] = [parts[index - 1], parts[index], parts[index + 1]];
  if (!part) return text;
  const from = before?.end ?? (after ? part.start : node.start + 1);
  const to = before ? part.end : (after?.start ?? node.end - 1);
  const around = text.slice(from, part.start) + text.slice(part.end, to);
  const comma = blankComments(around).indexOf(",");
  const comments = around.slice(0, Math.max(comma, 0)) + around.slice(comma + 1);
  return text.slice(0, from) + (comments.trim() === "" ? "" : comments) + text.slice(to);
}
