import { describe, expect, test, vi } from "vitest";
import { kinds, type ReaderMessage } from "#lib/reader/message";
import { outlineOf } from "#lib/reader/outline";
import { rowsOf } from "#lib/reader/rows";
import { forbidden, tagsOf } from "./markup";
import { message, render, renderBody } from "./rendering";

vi.setConfig({ testTimeout: 60_000 });

const payloads: Record<string, string> = {
  script: "<script>alert(1)</script>",
  "closing tags": '</pre></code></details></article></template><script>alert(1)</script>"><img src=x onerror=alert(1)>',
  image: '<img src=x onerror=alert(1)> ![x](javascript:alert(1)) ![y](http://evil.example/pixel.png "t")',
  "image by reference": "![a][b]\n\n[b]: data:image/svg+xml,<svg/onload=alert(1)>",
  svg: "<svg><animate onbegin=alert(1) attributeName=x dur=1s><style>*{display:none}</style></svg>",
  style: "<style>@import 'http://evil.example/x.css'</style><p style=\"background:url(//evil.example)\">x</p>",
  iframe: "<iframe srcdoc='<script>alert(1)</script>'></iframe><object data=x><embed src=x><base href=//evil.example>",
  form: "<form action=//evil.example><input type=password name=p><button formaction=javascript:alert(1)>go</button></form>",
  "script links":
    "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](java\tscript:alert(1)) [d](&#106;avascript:alert(1))",
  "more script links":
    "[a](<javascript:alert(1)>) [b](vbscript:x) [c](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>",
  "own links": "[a](/api/auth/sign-out) [b](//evil.example) [c](#m1) [d](?at=1) [e](file:///etc/passwd) [f](blob:x)",
  "link text": '[![x](http://evil.example/p.png)](https://example.org/?q="onmouseover=alert(1))',
  autolinks: 'www.example.org http://example.org/"onclick=alert(1) a@example.org <https://example.org/<script>>',
  fence: "```js onload=alert(1)\n</code></pre><script>alert(1)</script>\n```",
  "fence's name": '```"><script>alert(1)</script>\nx\n```\n\n```constructor\nx\n```\n\n```__proto__\nx\n```',
  footnotes: 'a[^1] b[^"><script>] c[^toString]\n\n[^1]: x <script>\n[^"><script>]: y\n[^toString]: z',
  table: "|<script>|[a](javascript:x)|\n|:-|-:|\n|<img src=x onerror=x>|y|",
  heading: "# <script>alert(1)</script>\n\nx\n=\n\n<h1 id=m1>x</h1>",
  entities: "&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62;",
  html: "<!-- --><![CDATA[<script>]]><?php ?><a href=javascript:alert(1) onclick=alert(1)>x</a>",
  control: "\u0000\u0008\u001b]0;title\u0007\u001b[31m<script>\u001b[0m\u202egnp.exe\u2028\u2029\r<b>\r\n",
  lists: "- [x] <script>\n- [ ] [a](javascript:x)\n\n1000000000. x\n999999999. y",
  wrapper:
    '<tool-use data-tool-type="x" data-tool-name="<script>"><details><summary>Tool use: **"><img src=x>**</summary>\n`<script>`\n</details></tool-use>',
  thinking: "<think><details><summary><script></summary>\n<script>alert(1)</script></details></think>",
  command: "<command-name>/<script>alert(1)</script></command-name><command-args><img src=x></command-args>",
  notice:
    "<task-notification><summary><script>alert(1)</script></summary><result><iframe></result></task-notification>",
};

/** A message for each kind, and more for each agent's shapes, with the text in all the places that take one. */
function everywhere(text: string): ReaderMessage[] {
  const input = Object.fromEntries(
    `command cmd description file_path path pattern query url prompt subagent_type content old_string plan text question
    skill args __proto__ ${text}`
      .split(/\s+/)
      .map((key) => [key, text]),
  );
  const own = kinds.flatMap((kind) => [
    message({ content: text, metadata: { kind } }),
    message({ content: text, role: text, metadata: { kind, model: text, tool: { name: text, input, output: text } } }),
    message({
      content: "",
      metadata: { kind, tool: { name: text, input: { ...input, new_string: `${text}\n${text}` } } },
    }),
  ]);
  const foreign = [
    { type: "tool_use", id: text, name: "Edit", input: { file_path: text, old_string: text, new_string: `a${text}` } },
    {
      type: "tool_use",
      id: "1",
      name: "AskUserQuestion",
      input: { questions: [{ question: text, options: [text, { label: text }] }] },
    },
    {
      type: "tool_use",
      id: "2",
      name: "TodoWrite",
      input: {
        todos: [
          { content: text, status: text },
          { content: text, status: "completed" },
        ],
      },
    },
    { type: "tool_result", tool_use_id: "1", content: [{ type: "text", text }], is_error: true },
    {
      type: "function_call",
      call_id: "3",
      name: "apply_patch",
      arguments: JSON.stringify({ input: `*** Begin Patch\n*** Add File: ${text}\n+${text}\n` }),
    },
    {
      type: "function_call_output",
      call_id: "3",
      output: JSON.stringify({ output: text, metadata: { exit_code: 1 } }),
    },
    {
      toolCalls: [{ name: text, args: input, resultDisplay: text, status: "error" }],
      thoughts: [{ subject: text, description: text }],
    },
  ].map((metadata) => message({ content: "", metadata }));
  const roles = ["user", "assistant", "system", "tool", text, null].map((role) => message({ role, content: text }));
  return [...roles, ...own, ...foreign];
}

test.each(Object.entries(payloads))("%s in any field stays text", async (_, text) => {
  const messages = everywhere(text);
  const html = await render(messages);
  expect(forbidden(html)).toEqual([]);
  expect(html).not.toContain("<script");
  for (const one of messages) expect(forbidden(await renderBody([one]))).toEqual([]);
  expect(() => outlineOf(messages)).not.toThrow();
});

test("values of any type where a text is expected are drawn as text", async () => {
  for (const odd of [0, true, null, [], {}, [[[]]], { toString: 1 }, [null, { text: 1 }], "", -1e308]) {
    const fields = Object.fromEntries(
      "tool result kind model content message payload toolCalls thoughts tool_calls toolUseResult functionCall type name input"
        .split(" ")
        .map((key) => [key, odd]),
    );
    const html = await render([
      message({ metadata: fields }),
      message({ metadata: { tool: fields } }),
      message({ metadata: { ...fields, tool: { name: "Edit", input: { edits: [odd], file_path: odd, todos: odd } } } }),
      message({ metadata: { type: "tool_use", name: "TodoWrite", input: { todos: [odd, fields] } } }),
      message({ metadata: { type: "tool_result", content: odd } }),
      message({ content: "x", metadata: { result: { ...fields, callId: "1" }, content: [odd, fields] } }),
    ]);
    expect(forbidden(html)).toEqual([]);
  }
});

test("a link is one only where it leads to the web or to a mailbox", async () => {
  const html = await render([message({ content: Object.values(payloads).join("\n\n") })]);
  const links = tagsOf(html).filter(({ name, attributes }) => name === "a" && attributes.rel !== undefined);
  expect(links.length).toBeGreaterThan(5);
  for (const { attributes } of links)
    expect(attributes).toMatchObject({ href: expect.stringMatching(/^(https?:|mailto:)/i) });
});

/** What some work takes of the processor, in milliseconds: a machine that does other things too makes it no longer. */
async function costOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const deep = (open: string, close: string, times: number) => open.repeat(times) + close.repeat(times);

const bombs: Record<string, string> = {
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

describe("what is made to take long", () => {
  // Grammars are read once, by whoever needs them first.
  test.each(Object.entries(bombs))("%s: drawn in bounded time", async (name, text) => {
    const messages = [
      message({ role: "user", content: text }),
      message({ content: text }),
      message({ content: text, metadata: { tool: "Bash", input: { command: text } } }),
    ];
    let html = "";
    const took = await costOf(async () => {
      html = await render(messages);
    });
    if (process.env.SHARES) process.stdout.write(`${Math.round(took)} ms ${html.length} ${name}\n`);
    expect(took).toBeLessThan(2000);
    expect(html.length).toBeLessThan(2_000_000);
    expect(forbidden(html)).toEqual([]);
  });

  test("a segment of edits that are slow to compare, and a fence longer than a regular expression may be", async () => {
    const lines = (factor: number, max: number) =>
      Array.from({ length: 300 }, (_, line) => (line * factor) % max).join("\n");
    const edits = Array.from({ length: 200 }, (_, n) => ({ old_string: lines(n, 7), new_string: lines(n + 3, 5) }));
    const slow = Array.from({ length: 8 }, () => message({ metadata: { tool: "MultiEdit", input: { edits } } }));
    const fence = message({ content: `Tool use: **bash** x\n${"~".repeat(3_000_000)}` });
    let parts = 0;
    const took = await costOf(async () => {
      parts = rowsOf([...slow, fence]).length;
    });
    expect(took).toBeLessThan(3000);
    expect(parts).toBeGreaterThan(0);
  });

  const megabytes = 5 * 1024 * 1024;
  test.each([
    ["of one line", "a".repeat(megabytes)],
    ["of short lines", "ab\n".repeat(megabytes / 3)],
    ["of words", "lorem *ipsum* `dolor` ".repeat(megabytes / 22)],
    ["of paragraphs", "lorem *ipsum* `dolor`\n\n".repeat(megabytes / 23)],
    ["of fences", "```ts\nconst a = 1;\n```\n\n".repeat(megabytes / 24)],
    ["of carriage returns", "a\r".repeat(megabytes / 2)],
    ["of colours", "\u001b[31ma\u001b[0m".repeat(megabytes / 10)],
    ["of quotes", ">".repeat(megabytes)],
    ["of diff lines", "+a\n-b\n".repeat(megabytes / 6)],
  ])("a message of 5 MB %s: a page of it, and its rest in slices", async (name, text) => {
    const shapes = [
      message({ role: "user", content: text }),
      message({ content: text }),
      message({ content: text, metadata: { kind: "thinking" } }),
      message({ content: text, metadata: { tool: { name: "Bash", input: { command: "x" } } } }),
      message({
        metadata: { tool: { name: "Edit", input: { file_path: "a.ts", old_string: text, new_string: `b${text}` } } },
      }),
      message({ metadata: { tool: { name: "apply_patch", input: { patch: text } } } }),
    ];
    for (const shape of shapes) {
      let [html, body] = ["", ""];
      const took = await costOf(async () => {
        html = await render([shape]);
        body = await renderBody([shape]);
      });
      if (process.env.SHARES) process.stdout.write(`${Math.round(took)} ms ${html.length} ${body.length} ${name}\n`);
      expect(took).toBeLessThan(3000);
      expect(html.length).toBeLessThan(200_000);
      expect(body.length).toBeLessThan(1_500_000);
    }
  });
});
