const languages = ["ts", "py", "go", "rust", "sql", "bash", "css", "json", "yaml", "java"];

const line = (language: string, n: number, m: number) =>
  `${["let", "fn", "def", "select", "func"][(n + m) % 5]} ${language}_${n}_${m} = compute(${n * m}, "text ${m}", [${m}, null, true]); // ${n}`;

const fence = (n: number, lines: number) => {
  const language = languages[n % languages.length] ?? "ts";
  const code = Array.from({ length: lines }, (_, m) => line(language, n, m)).join("\n");
  return `\`\`\`${language}\n${code}\n\`\`\``;
};

const table = (n: number) =>
  `| module | *state* | \`time\` | note |\n|---|:-:|--:|---|\n${Array.from(
    { length: 30 },
    (_, m) => `| src/m${m}.ts | **ok** | ${n * m} ms | [link ${m}](https://example.org/${n}/${m}) |`,
  ).join("\n")}`;

const prose = (n: number) =>
  Array.from(
    { length: 12 },
    (_, m) =>
      `- point **${m}** of _${n}_ with \`code${m}()\`, a [link](https://example.org/${m}), and ~~old~~ new words`,
  ).join("\n");

/** A message of Markdown that costs much to draw: fences in several languages, tables, lists, one long line. */
const dense = (n: number) =>
  [
    `## Part ${n}`,
    prose(n),
    fence(n, 40),
    table(n),
    fence(n + 3, 40),
    `word ${n} `.repeat(200),
    fence(n + 5, 30),
    prose(n + 1),
  ].join("\n\n");

const edit = (n: number) => {
  const old = Array.from({ length: 60 }, (_, m) => line("ts", n, m));
  const input = {
    file_path: `src/m${n}.ts`,
    old_string: old.join("\n"),
    new_string: old.map((one, m) => (m % 3 === 0 ? one.replace("compute", "derive") : one)).join("\n"),
  };
  return { content: "", metadata: { tool: { name: "Edit", input } } };
};

/** The trace of a session of messages that are as dear to draw as what people write can be. */
export const denseTrace = (sourceId: string, messages = 100) => ({
  sourceId,
  source: "claude-code",
  title: `Dense ${sourceId}`,
  messages: Array.from({ length: messages }, (_, position) => ({
    position,
    role: "assistant",
    ...(position % 10 === 9 ? edit(position) : { content: dense(position) }),
  })),
});
