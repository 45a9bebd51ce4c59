import type { ReaderMessage } from "#lib/transcript/message";

const code = 'export const a = (b: string): number => Number(b) + 1; // "c"\n';
const fences = ["ts", "tsx", "json", "bash", "python", "diff"].map((name) => `\`\`\`${name}\n${code.repeat(20)}\`\`\``);
const prose = `## Findings

It *depends* on **the order** of [modules](https://example.org), see \`src/a.ts\`:

1. one
2. two
   - a part of it

| name | figure |
|------|-------:|
| one  | 1      |

> A quotation.

`;
const tool = (kind: string, name: string, body: string) =>
  `<tool-use data-tool-type="${kind}" data-tool-name="${name}"><details>\n<summary>Tool use: **${name}**</summary>\n${body}\n</details></tool-use>`;

const contents = [
  "Why does the build fail?",
  `${prose}${fences.join("\n\n")}`,
  tool("shell", "Bash", `Run it\n\n\`npm test\`\n\n\`\`\`text\n${"line of output\n".repeat(30)}\`\`\``),
  tool("write", "Edit", `\`src/a.ts\`\n\n\`\`\`diff\n-${code}+${code}\`\`\``),
];

export const sampleMessages: ReaderMessage[] = Array.from({ length: 40 }, (_, position) => ({
  position,
  role: position % contents.length === 0 ? "user" : "assistant",
  content: contents[position % contents.length] ?? "",
  tokenCount: null,
  createdAt: null,
  metadata: null,
}));
