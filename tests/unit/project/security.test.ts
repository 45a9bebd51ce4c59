import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { escapePattern } from "#common/escape-pattern";

/** A test file as docs/security.md names it, with the titles of its tests that follow: `api/device`: "…", "…" */
const reference =
  /`((?:api|attacks|cli|deploy|e2e|jobs|long|unit)\/[\w/-]+(?:\.process)?)`(?:: ((?:"[^"]+"(?:,\s)?)+))?/g;

test("every test that docs/security.md names exists", async () => {
  const text = (await readFile("docs/security.md", "utf8")).replaceAll(/\s+/g, " ");
  const references = [...text.matchAll(reference)];
  expect(references.length).toBeGreaterThan(30);
  for (const [, file, titles = ""] of references) {
    const source = (await readFile(`tests/${file}.test.ts`, "utf8")).replaceAll(/test\(\s+/g, "test(");
    for (const [, title = ""] of titles.matchAll(/"([^"]+)"/g))
      expect(source, file).toMatch(new RegExp(`[tT]est\\("${escapePattern(title)}`));
  }
});
