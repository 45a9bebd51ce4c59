import { describe, expect, test } from "vitest";
import { splitInjected } from "#lib/transcript/injected";
import { makeOutline } from "#lib/transcript/outline";
import { makeRows } from "#lib/transcript/rows";
import { isPlainlyMarkdown, splitStretches } from "#lib/transcript/said";
import { makePng, type Sample } from "../../support/pictures.ts";
import { message, render } from "./rendering";

const said = (content: string) => message({ role: "user", content });

describe("what a person wrote", () => {
  test("keeps its line breaks, and a # in it is no heading", async () => {
    const html = await render([said("one\ntwo\n# not a heading\n* not a list\nsee `a_b` and https://example.org/x.")]);
    expect(html).toContain("one\ntwo\n# not a heading\n* not a list\nsee <code>a_b</code> and ");
    expect(html).toContain('href="https://example.org/x"');
    expect(html).not.toMatch(/<h[3-6]|<ul|<li/);
  });

  test("is Markdown where it plainly is: a plan that is handed over", async () => {
    const plan = "Implement the following plan:\n\n# Plan: Watch\n\n## Steps\n\n1. **One**\n2. Two\n";
    expect(isPlainlyMarkdown(plan)).toBe(true);
    expect(await render([said(plan)])).toContain("<strong>One</strong>");
    expect(isPlainlyMarkdown("# install\nnpm ci\n# build\nnpm run build")).toBe(false);
    expect(isPlainlyMarkdown("- a\n- b\n- c")).toBe(false);
    expect(isPlainlyMarkdown("# not a heading\n\nSee\n\n```ts\na\n```\n\none\n  two")).toBe(false);
    expect(makeOutline([said(plan)]).turns.map(({ title }) => title)).toEqual(["Plan: Watch"]);
  });

  test("has what was pasted as programs printed it, and diffs with their lines", () => {
    const log = "ok   a/b   0.1s\nFAIL a/c   0.2s\n    c_test.go:12: no";
    expect(splitStretches(`Why?\n\n${log}\n\nPlease.`).map(({ type, text }) => [type, text.trim()])).toEqual([
      ["words", "Why?"],
      ["paste", log],
      ["words", "Please."],
    ]);
    const diff = "diff --git a/x b/x\n@@ -1 +1 @@\n-a = 1;\n+a = 2;";
    expect(splitStretches(`${diff}`).map(({ type }) => type)).toEqual(["diff"]);
    expect(splitStretches("See\n```ts\nconst a = 1;\n```\nok").map(({ type }) => type)).toEqual([
      "words",
      "code",
      "words",
    ]);
  });

  test("shows images that came in it, and none from elsewhere", async () => {
    const makeUrl = (sample: Sample) => `data:image/png;base64,${sample.bytes.toString("base64")}`;
    const data = makeUrl(makePng());
    const html = await render([said(`Look:\n![shot](${data})\nand ![far](https://example.org/a.png)`)]);
    expect(html).toContain(`<img src="${data}" alt="shot" class="image">`);
    expect(html.match(/<img/g)).toHaveLength(1);
    const svg = await render([said("![x](data:image/svg+xml;base64,PHN2Zz4=)")]);
    expect(svg).not.toContain("<img");
    const large = await render([said(`![big](${makeUrl(makePng({ extra: 300_000 }))})`)]);
    expect(large).toContain("big, 294 KB");
    expect(large.length).toBeLessThan(5000);
    const vast = await render([said(`Look:\n![vast](${makeUrl(makePng({ told: 30_000_000 }))})`)]);
    expect(vast).toContain("[image: image/png, 1 KiB]");
    expect(vast).not.toContain("<img");
  });
});

describe("what a program adds", () => {
  const reminder = "<system-reminder>\nTodo list is empty.\n</system-reminder>";

  test("is folded below the person's words, before and after them", () => {
    const context = "<environment_context>\n  <cwd>/a</cwd>\n</environment_context>";
    expect(splitInjected(`${context}\n\nFix it\n\n${reminder}`)).toEqual({ own: "Fix it", added: [context, reminder] });
    const [row, ...more] = makeRows([said(`${reminder}\nFix it`)]);
    expect(more).toEqual([]);
    expect(row?.parts.map(({ kind }) => kind)).toEqual(["user", "notice"]);
    expect(makeOutline([said(`${reminder}\nFix it`)]).turns.map(({ title }) => title)).toEqual(["Fix it"]);
  });

  test.each([
    ["# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>"],
    ["# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:"],
    ["<ide_opened_file>The user opened a.ts</ide_opened_file>"],
  ])("%j is no part of the person's words", (added) => {
    expect(splitInjected(`${added}\nFix it`)).toEqual({ own: "Fix it", added: [added] });
  });

  test("stays where a person quotes it, and an editor's tags round their words go", () => {
    const quoted = `What is this?\n${reminder}\nIt comes each time.`;
    expect(splitInjected(quoted)).toEqual({ own: quoted, added: [] });
    expect(splitInjected("<user_query>\nFix it\n</user_query>").own).toBe("Fix it");
  });

  test("what a command tells the agent is in the command, which names the turn", () => {
    const messages = [
      said(
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>12</command-args>",
      ),
      said("## Context\n\n- status\n\n## Task\n\nReview it."),
      message({ content: "I look." }),
      said("<command-name>/exit</command-name>\n<command-message>exit</command-message>"),
      said("<local-command-stdout>Bye!</local-command-stdout>"),
      said("<local-command-caveat>Caveat: The messages below were generated</local-command-caveat>"),
    ];
    const rows = makeRows(messages);
    expect(rows.map(({ kind, positions, turnStart }) => [kind, positions.length, turnStart])).toEqual([
      ["command", 2, true],
      ["assistant", 1, false],
      ["command", 3, false],
    ]);
    expect(rows[0]?.parts[0]).toMatchObject({ title: "/review 12", blocks: [{ fold: "Message to the agent" }] });
    expect(makeOutline(messages).turns.map(({ title }) => title)).toEqual(["/review 12"]);
  });

  test("an image's file is beside the words that came with it, and no turn", () => {
    const messages = [said("See the image"), said("[Image: source: /tmp/a/shot.png]\n[Image: source: /tmp/b.png]")];
    const [row, ...more] = makeRows(messages);
    expect(more).toEqual([]);
    expect(row?.parts.map(({ kind, title }) => [kind, title])).toEqual([
      ["user", ""],
      ["notice", "Image: shot.png, b.png"],
    ]);
    expect(makeOutline(messages).turns).toHaveLength(1);
  });
});

test("a shell row tells what it is for and the command, and opens to the whole command", async () => {
  const command = 'cd /Users/ada/x && go test ./... -run "A|B" 2>&1 | tail -5';
  const tool = { name: "Bash", input: { command, description: "Run the tests" } };
  const html = await render([message({ metadata: { tool }, content: "ok" })]);
  expect(html).toMatch(/<span class="note">Run the tests<\/span><span class="title mono">go test /);
  const body = html.slice(html.indexOf("part-body")).replace(/<[^>]+>/g, "");
  expect(body).toContain("cd /Users/ada/x &amp;&amp; go test ./... -run &quot;A|B&quot; 2&gt;&amp;1 | tail -5");
});

test("a closed shell row has the command and not the change of folder before it, however that is written", async () => {
  const shown = async (command: string) => {
    const html = await render([message({ metadata: { tool: { name: "Bash", input: { command } } } })]);
    return /<span class="title mono">([^<]*)/.exec(html)?.[1];
  };
  for (const before of ["cd /srv/x && ", "cd /srv/x\n", 'cd "/srv/x y";  ', "cd '/srv/x'\n\n"])
    expect(await shown(`${before}go vet ./...\nls`), before).toBe("go vet ./...");
  for (const command of ["cd /srv/x", "cd $(mktemp -d)", "cd /srv/x || exit 1"])
    expect(await shown(command)).toBe(command);
});

test("paths are the project's, with the whole path on the mark, and a person's home is ~", async () => {
  const read = (file_path: string) =>
    message({ metadata: { tool: { name: "Read", input: { file_path }, output: "a" } } });
  const html = await render([read("/Users/ada/src/x.ts")]);
  expect(html).toContain('title="/Users/ada/src/x.ts"');
  expect(html.replace(/<[^>]+>/g, "")).toContain("~/src/x.ts");
});

test("a diff has the numbers that its hunks tell, and folds what did not change", async () => {
  const same = Array.from({ length: 20 }, (_, at) => ` line ${at}`);
  const patch = ["@@ -10,22 +10,22 @@", "-old();", "+now();", ...same, "-b", "+c"].join("\n");
  const tool = { name: "Edit", input: { file_path: "a.txt", patch } };
  const html = await render([message({ metadata: { tool } })]);
  expect(html).toContain('<del data-n="10">');
  expect(html).toContain('<ins data-n="10">');
  expect(html).toContain('<span data-n="11">line 0');
  expect(html).toContain("<summary>14 unchanged lines</summary>");
});

test("a text with a table is Markdown", () => {
  expect(isPlainlyMarkdown("Look:\n\n| file | what |\n|-|-|\n| `a.go` | it |")).toBe(true);
  expect(isPlainlyMarkdown("a | b\n---\nc")).toBe(false);
});
