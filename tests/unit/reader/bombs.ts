import { message } from "./rendering";

const deep = (open: string, close: string, times: number) => open.repeat(times) + close.repeat(times);

/** Texts that are made to take long. */
export const bombs: Record<string, string> = {
  quotes: ">".repeat(10_000),
  "spaced quotes": "> ".repeat(8000),
  brackets: "[".repeat(10_000),
  "closed brackets": deep("[", "]", 8000),
  links: "[a](".repeat(4000),
  images: "![".repeat(8000),
  "emphasis that never closes": "**a_".repeat(4000),
  "emphasis in emphasis": deep("*_", "_*", 4000),
  strikes: "~a ~~b ".repeat(2000),
  ticks: Array.from({ length: 170 }, (_, length) => "`".repeat(length)).join(" "),
  "numbered lists in each other": "1. ".repeat(5000),
  "lists in each other": Array.from({ length: 170 }, (_, depth) => `${" ".repeat(depth)}- a`).join("\n"),
  "lists by lines": Array.from({ length: 120 }, (_, depth) => `${"  ".repeat(depth)}- a`).join("\n"),
  "quotes by lines": Array.from({ length: 170 }, (_, depth) => `${"> ".repeat(depth)}a`).join("\n"),
  "a wide table": `${"|a".repeat(2000)}\n${"|-".repeat(2000)}\n${"|b\n".repeat(1000)}`,
  "a long table": `|a|b\n|-|-\n${"|c\n".repeat(5000)}`,
  tables: "|a|b\n|-|-\n".repeat(1500),
  tags: "<a ".repeat(5000),
  comments: "<!--".repeat(4000),
  addresses: "a@b.".repeat(4000),
  hosts: "www.a@".repeat(2700),
  definitions: "[a]: b\n[a]".repeat(1600),
  footnotes: `${"[^1]".repeat(4000)}\n\n[^1]: x`,
  entities: "&".repeat(16_000),
  "empty headings": "#\n".repeat(8000),
  "behind a fence that is none": `<div>\n\`\`\`\n\n${"**a_".repeat(3500)}`,
  "quotes behind a fence that is none": `<div>\n\`\`\`\n\n${"> ".repeat(7000)}`,
  "lists behind a fence that is none": `<div>\n\`\`\`\n\n${"1. ".repeat(4500)}`,
  "white space": `${" ".repeat(15_000)}x`,
  "an open fence": `\`\`\`ts\n${"`".repeat(10_000)}`,
  "wrappers without an end": '<tool-use data-tool-type="a" data-tool-name="b">'.repeat(5000),
  "ends of wrappers": `<think>${"</think> x".repeat(100_000)}`,
  "ends and white space": `<think>${`</think>${" ".repeat(2000)}x`.repeat(500)}`,
  "fences in a tool": `Tool use: **Bash**\n\n${"```\n\n```x\n".repeat(50_000)}`,
  "ticks in a tool": `Tool use: **Grep** ${"path `".repeat(50_000)}`,
  "lines of a tool's list": `Tool use: **Odd** x\n${"- a: `".repeat(100_000)}`,
  "tasks in a tool": `Tool use: **TodoWrite**\n${"- [ ] a\n".repeat(100_000)}`,
  "a transcript": `<think>x</think>\n${"_**Agent - sidechain**_\n<think>x</think>\n".repeat(20_000)}`,
  "a transcript in a transcript": `<think>x</think>\n${"_**Agent**_\n\n<think>y</think>\n".repeat(500)}`,
};

/** The messages that such a text is drawn in. */
export const drawnIn = (text: string) => [
  message({ role: "user", content: text }),
  message({ content: text }),
  message({ content: text, metadata: { tool: "Bash", input: { command: text } } }),
];

/** A segment of so many edits that are slow to compare, and a fence longer than a regular expression may be. */
export function slowSegment(count: number, fenceChars: number) {
  const lines = (factor: number, max: number) =>
    Array.from({ length: 300 }, (_, line) => (line * factor) % max).join("\n");
  const edits = Array.from({ length: 200 }, (_, n) => ({ old_string: lines(n, 7), new_string: lines(n + 3, 5) }));
  const slow = Array.from({ length: count }, () => message({ metadata: { tool: "MultiEdit", input: { edits } } }));
  return [...slow, message({ content: `Tool use: **bash** x\n${"~".repeat(fenceChars)}` })];
}

/** Messages of so many bytes, by what they are full of. */
export const listFull = (bytes: number): [name: string, text: string][] => [
  ["of one line", "a".repeat(bytes)],
  ["of short lines", "ab\n".repeat(bytes / 3)],
  ["of words", "lorem *ipsum* `dolor` ".repeat(bytes / 22)],
  ["of paragraphs", "lorem *ipsum* `dolor`\n\n".repeat(bytes / 23)],
  ["of fences", "```ts\nconst a = 1;\n```\n\n".repeat(bytes / 24)],
  ["of carriage returns", "a\r".repeat(bytes / 2)],
  ["of colours", "\u001b[31ma\u001b[0m".repeat(bytes / 10)],
  ["of quotes", ">".repeat(bytes)],
  ["of diff lines", "+a\n-b\n".repeat(bytes / 6)],
];

/** A text in each place of a message that takes one. */
export const listShapes = (text: string) => [
  message({ role: "user", content: text }),
  message({ content: text }),
  message({ content: text, metadata: { kind: "thinking" } }),
  message({ content: text, metadata: { tool: { name: "Bash", input: { command: "x" } } } }),
  message({
    metadata: { tool: { name: "Edit", input: { file_path: "a.ts", old_string: text, new_string: `b${text}` } } },
  }),
  message({ metadata: { tool: { name: "apply_patch", input: { patch: text } } } }),
];
