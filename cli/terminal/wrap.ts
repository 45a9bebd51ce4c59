/** An option or command and the blanks before its description. */
const labelled = /^(?: {2}\S.*? {2,}| {2}\S.{17} | *)(?=\S)/;

/** Breaks lines that are too long for a terminal and indents descriptions. */
export function wrap(text: string, columns: number): string {
  return text
    .replace(/(?<=^\S.*)\n(?=\S)/gm, " ")
    .split("\n")
    .flatMap((line) => wrapLine(line, columns))
    .join("\n");
}

function wrapLine(line: string, columns: number): string[] {
  const [label = ""] = labelled.exec(line) ?? [];
  // A program may have a long name.
  const indent = " ".repeat(label.length > columns / 2 ? 6 : label.length);
  const lines: string[] = [];
  let current = label;
  for (const word of line.slice(label.length).split(" ")) {
    const longer = current === label || current === indent ? current + word : `${current} ${word}`;
    if (longer.length <= columns || current === indent) current = longer;
    else {
      lines.push(current.trimEnd());
      current = indent + word;
    }
  }
  return [...lines, current];
}
