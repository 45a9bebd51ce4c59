// What must not become markup, and messages that have a text wherever one can stand.
import { kinds, type ReaderMessage } from "#lib/transcript/message";
import { message } from "./rendering";

export const payloads: Record<string, string> = {
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
export function everywhere(text: string): ReaderMessage[] {
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
