import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { message, render, renderBody } from "./rendering";

vi.setConfig({ testTimeout: 60_000 });

const folder = "tests/fixtures/sessions";

test.each(readdirSync(folder))("the session %s is drawn whole", async (name) => {
  const { messages } = JSON.parse(readFileSync(join(folder, name), "utf8"));
  const html = await render(messages.map((fields: object) => message(fields)));
  expect(html).toContain('<article id="m');
  expect(html).not.toMatch(/ style=/);
});

test("a message's headings begin at the third level and skip none, whatever was written; they look as they were written", async () => {
  const html = await render([message({ content: "## Two\n\n#### Four\n\n# One\n\n##### Five\n\n- # In a list" })]);
  const found = [...html.matchAll(/<(h\d) class="([^"]*)">([^<]*)/g)].map(([, ...parts]) => parts.join(" "));
  expect(found).toEqual([
    "h3 prose-h2 Two",
    "h4 prose-h3 Four",
    "h3 prose-h1 One",
    "h4 prose-h3 Five",
    "h3 prose-h1 In a list",
  ]);
});

test("a colour goes on until it is reset: past many lines, in the end of what failed, and in what is loaded", async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, line) => `ok ${line}`).join("\n");
  const run = (output: string) =>
    message({ metadata: { tool: { name: "Bash", input: { command: "x" }, output, exitCode: 1 } } });
  const green = `\u001b[31;1m\u001b[0;4m\u001b[38;5;2m${lines(60)}`;
  const coloured = (html: string) => html.match(/<i class="ansi-2 u">ok \d+<\/i>/g);
  expect(coloured(await render([run(green)]))).toHaveLength(60 + 20);
  const ended = await render([run(`${green}\u001b[39;24m\n${lines(30)}`)]);
  expect(ended.match(/<i class="[^"]*(?:ansi|u)/g)).toHaveLength(60);
  const long = run(`${green}\n${lines(300)}`);
  expect(coloured(await render([long]))).toHaveLength(360 + 20); // beyond 200 in a fold of its own
  const from = `${green}\n${lines(140)}\n`.length;
  expect(coloured(await renderBody([long], `0.1+${from}`))).toHaveLength(160);
});

test("a long body is not on the page but can be loaded, slice by slice, until nothing is left", async () => {
  const text = Array.from({ length: 5000 }, (_, line) => `line ${line}`).join("\n");
  const long = message({ metadata: { tool: { name: "Bash", input: { command: "seq 5000" } } }, content: text });
  const page = await render([long]);
  expect(page).toContain(`data-load="${long.position}"`);
  expect(page).not.toContain("line 300");
  let loaded = "";
  for (let part: string | undefined = "0"; part !== undefined; ) {
    const slice: string = await renderBody([long], part);
    loaded += slice;
    part = /data-part="([^"]+)"/.exec(slice)?.[1];
  }
  for (const line of [0, 1999, 2000, 4999])
    expect(loaded.split(`line ${line}\n`).length + loaded.split(`line ${line}<`).length).toBe(3);
});

test("an edit marks the words that changed, though neither text ends with a newline", async () => {
  const input = {
    file_path: "a.ts",
    old_string: "one\nconst two = 2;\nlast",
    new_string: "one\nconst two = 3;\nlast\nnew",
  };
  const html = await render([message({ metadata: { tool: { name: "Edit", input } } })]);
  const plain = html.replace(/<\/?i(?: [^>]*)?>/g, "");
  expect(plain).toContain("<del>const two = <b>2</b>;");
  expect(plain).toContain("<ins>const two = <b>3</b>;");
  expect(html).toContain('<i class="k">const</i>'); // in the colours of its language
  expect(html.match(/<del>/g)).toHaveLength(1);
});

test("what a program printed has its colours and styles as classes, and its resets end them", async () => {
  const output = [
    "\u001b[4mline\u001b[24m \u001b[9mgone\u001b[29m \u001b[3mslanted\u001b[0m",
    "\u001b[7m inverse \u001b[27m \u001b[2mdim\u001b[22m \u001b[1;4;31mall\u001b[m none",
    "\u001b[31;7mred\u001b[0m",
  ].join("\n");
  const html = await render([message({ metadata: { tool: { name: "Bash", input: { command: "x" }, output } } })]);
  expect(html).toContain('<i class="u">line</i> <i class="x">gone</i> <i class="e">slanted</i>\n');
  expect(html).toMatch(
    /<i class="[^"]*ansi-inverse"> inverse <\/i> <i class="ansi-0">dim <\/i><i class="ansi-1 b u">all<\/i> none\n/,
  );
  expect(html).toMatch(/<i class="[^"]*ansi-on-1">red<\/i>/);
  expect(html.includes(" style=") || html.includes("\u001b")).toBe(false);
});
