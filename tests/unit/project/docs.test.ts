import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const folders = "app|cli|docs|lib|prisma|public|tests|\\.ci|\\.github";

/** The project's own paths that a text names in backticks; `{a,b}` names several, and a placeholder or pattern none. */
function pathsIn(text: string): string[] {
  const inCode = [...text.matchAll(new RegExp(`(?:^|[\\s\`(│])((?:${folders})/[^\\s\`│]*)`, "gm"))];
  return inCode
    .map(([, path = ""]) => path.replace(/[.,;:)]+$/, "").replace(/#.*$/, ""))
    .filter((path) => !/[<>*…]/.test(path))
    .flatMap(expand);
}

function expand(path: string): string[] {
  const [whole, before = "", names = "", behind = ""] = /^(.*?)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  return whole === undefined ? [path] : names.split(",").flatMap((name) => expand(`${before}${name}${behind}`));
}

/** Where links of a Markdown text lead to within the project. */
function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:|^\//.test(target));
}

const inDocs = (await readdir("docs", { recursive: true })).filter((name) => name.endsWith(".md"));
const documents = [...inDocs.map((name) => join("docs", name)), "README.md", "CONTRIBUTING.md", "SECURITY.md"];

test.each(documents)("%s names only files and folders that exist", async (document) => {
  const text = await readFile(document, "utf8");
  const named = [...pathsIn(text), ...linksIn(text).map((link) => join(dirname(document), link))];
  expect(named.filter((path) => !exists(path))).toEqual([]);
});

/** What a document gives as an example of a user's own path. */
const examples = ["app/src/lib/retry.ts"];

/** A test may be named by its file alone: `cli/filter` is tests/cli/filter.test.ts. */
const exists = (path: string) => existsSync(path) || existsSync(`tests/${path}.test.ts`) || examples.includes(path);

test("a path that is gone is noticed, in each of its spellings", () => {
  expect(pathsIn("See `lib/a.ts`, lib/b/{c,d}.ts and (tests/e.ts). `app/api/**/x` is a pattern.")).toEqual([
    "lib/a.ts",
    "lib/b/c.ts",
    "lib/b/d.ts",
    "tests/e.ts",
  ]);
  expect(linksIn("[one](docs/one.md#part), [two](https://example.org), [three](#here)")).toEqual(["docs/one.md"]);
});
