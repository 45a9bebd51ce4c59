export type Fenced = { before: string; fences: { language: string; text: string }[]; after: string };

/** A longer fence is ignored: it becomes part of a regular expression, whose length is limited. */
const opening = /^[ \t]{0,3}(`{3,100}|~{3,100})([^`\n]*)$/gm;

/**
 * Exporters do not lengthen fences around quoted fences, so a block ends at the last closing line before the next possible
 * opening.
 */
export function readFences(text: string, single: boolean): Fenced {
  opening.lastIndex = 0;
  const first = opening.exec(text);
  if (!first) return { before: text.trim(), fences: [], after: "" };
  const fence = first[1] ?? "```";
  const before = text.slice(0, first.index).trim();
  const blocks = single ? [text.slice(first.index)] : splitBlocks(text.slice(first.index), fence);
  const fences = blocks.map(readBlock);
  const last = blocks.at(-1) ?? "";
  const end = closingLine(last);
  return { before, fences, after: end ? last.slice(end.index + end.length).trim() : "" };
}

function splitBlocks(text: string, fence: string): string[] {
  const seam = new RegExp(`\\n${fence}[ \\t]*\\n(?:[^\\n]{0,80}\\n){0,3}?(?=${fence}[\\w+#-]*\\n)`, "g");
  const blocks: string[] = [];
  let from = 0;
  for (const found of text.matchAll(seam)) {
    const end = found.index + 1 + fence.length;
    if (found.index < from) continue;
    blocks.push(text.slice(from, end));
    from = found.index + found[0].length;
  }
  blocks.push(text.slice(from));
  return blocks;
}

function readBlock(block: string): { language: string; text: string } {
  const head = block.indexOf("\n");
  if (head === -1) return { language: "", text: "" };
  const language =
    block
      .slice(0, head)
      .trim()
      .replace(/^[`~]+/, "")
      .trim()
      .split(/\s/, 1)[0] ?? "";
  const end = closingLine(block);
  return { language, text: withTicks(block.slice(head + 1, end && end.index > head ? end.index - 1 : undefined)) };
}

/** Some exporters escape every backtick in a block. */
const withTicks = (text: string) => (text.includes("`") ? text : text.replaceAll("&#96;", "`"));

function closingLine(block: string): { index: number; length: number } | undefined {
  const fence = /^[ \t]*(`{3,}|~{3,})/.exec(block)?.[1] ?? "```";
  for (let at = block.lastIndexOf(`\n${fence}`); at > 0; at = block.lastIndexOf(`\n${fence}`, at - 1)) {
    const end = block.indexOf("\n", at + 1);
    const line = block.slice(at + 1, end === -1 ? undefined : end);
    if (line.trimEnd() === fence) return { index: at + 1, length: line.length };
  }
  return undefined;
}

export function readTicks(text: string): { label: string; value: string }[] {
  return [...text.slice(0, 20_000).matchAll(/(?:(\w{1,40}):? )?`([^`\n]+)`/g)].map(([, label = "", value = ""]) => ({
    label: label.toLowerCase(),
    value,
  }));
}
