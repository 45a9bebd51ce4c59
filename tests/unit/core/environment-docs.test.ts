import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { environment } from "#lib/core/env";
import { documentEnvironment, exampleEnvironment } from "#server/commands/environment";

test("docs/operations.md and .env.example are what lib/core/env.ts says (npm run docs:env)", async () => {
  const operations = await readFile("docs/operations.md", "utf8");
  expect(documentEnvironment(operations)).toBe(operations);
  expect(await readFile(".env.example", "utf8")).toBe(exampleEnvironment());
});

test("every variable that is set in the example has its default there, and none another's name", async () => {
  const example = await readFile(".env.example", "utf8");
  const lines = [...example.matchAll(/^#([A-Z0-9_]+)=(.*)$/gm)];
  expect(lines.map(([, name]) => name)).toEqual(Object.keys(environment));
  expect(lines.find(([, name]) => name === "PORT")?.[2]).toBe("3000");
  expect(lines.filter(([, , value = ""]) => value.split(/\W+/).some((word) => word in environment))).toEqual([]);
});
