import { expect, test } from "vitest";
import { circles, longTests, sourceFiles, violations } from "../../support/boundaries.ts";

test("every module keeps to the layout's import rules", async () => {
  const files = await sourceFiles();
  expect(files.length).toBeGreaterThan(40);
  expect(files.flatMap(({ path, text }) => violations(path, text))).toEqual([]);
});

test("no test is longer than a source file may be", async () => {
  expect(await longTests()).toEqual([]);
});

test.each([
  ["lib/traces/x.ts", 'import { Row } from "../../app/components/row.tsx";', "lib imports neither app nor server"],
  ["lib/auth/x.ts", 'import { route } from "#lib/api/route";', "imports go down"],
  ["lib/core/env.ts", 'export { prisma } from "#lib/db/client";', "imports go down"],
  ["lib/queue/enqueuer.ts", 'import { networkOf } from "#lib/http/address";', "imports go down"],
  ["lib/helpers.ts", "export const one = 1;", "has a place in the layers"],
  ["lib/device/x.ts", 'const { getJob } = await import("#lib/ingest/jobs");', "no domain imports another"],
  ["lib/traces/schema.ts", 'import { pool } from "#lib/db/client";', "schema.ts imports zod"],
  ["app/(app)/traces/page.tsx", 'import { pool } from "#lib/db/client";', "app has no SQL"],
  ["app/components/x.tsx", '"use client";\nimport { listTraces } from "#lib/traces/queries";', "a client component"],
  ["cli/x.ts", 'import { limits } from "#lib/core/limits";', "the client is one file"],
  ["cli/commands/x.ts", 'import { z } from "zod";', "the client is one file"],
  ["common/evidence/x.ts", 'import { limits } from "#lib/core/limits";', "imports only its own folder"],
  [
    "common/secrets/x.ts",
    'import { rules } from "@secretlint/secretlint-rule-preset-recommend";',
    "imports only its own folder",
  ],
  ["lib/x.ts", 'import { Api } from "../cli/api.ts";', "knows the client as a file"],
  ["lib/traces/x.ts", "export const port = process.env.PORT;", "process.env"],
  ["lib/traces/x.ts", 'const rows = await tx.query("select 1");', "SQL stands in a sql.ts"],
  ["lib/traces/x.ts", "const rows = await pool().query<Row>(text, values);", "SQL stands in a sql.ts"],
  ["lib/traces/x.ts", "const rows = await prisma().$queryRaw`select 1`;", "SQL stands in a sql.ts"],
  ["lib/db/x.ts", 'await client.query("select 1");', "SQL stands in a sql.ts"],
  ["lib/traces/x.ts", "\n".repeat(601), "more than 600 lines"],
  ["lib/traces/x.ts", 'import { pool } from "#lib/db/client";', "server-only"],
])("%s with %j is refused", (path, text, reason) => {
  expect(violations(path, text).join("\n")).toContain(reason);
});

test("the client may import what reads Git's output", () => {
  expect(violations("cli/x.ts", 'import { readActs } from "../common/evidence/commands.ts";')).toEqual([]);
});

test("no action is written inside a page: Next would encrypt what it closes over, and answer a damaged one with 500", async () => {
  const files = (await sourceFiles()).filter(({ text }) => /^[ \t]+["']use server["']/m.test(text));
  expect(files.map(({ path }) => path)).toEqual([]);
});

test("a type alone may be imported from anywhere", () => {
  expect(violations("lib/device/x.ts", 'import type { Job } from "#lib/ingest/jobs";')).toEqual([]);
});

// Each is mended by the room it stands in; the list only ever gets shorter.
const knownCircles: string[] = [];

test("no modules import each other in a circle", async () => {
  expect(circles(await sourceFiles()).sort()).toEqual(knownCircles.sort());
});

test("a circle is found, however it is reached", () => {
  const importing = (path: string, target: string) => ({ path, text: `import { x } from "./${target}";` });
  const files = [importing("lib/a.ts", "b.ts"), importing("lib/b.ts", "c.ts"), importing("lib/c.ts", "b.ts")];
  expect(circles(files)).toEqual(["lib/b.ts -> lib/c.ts -> lib/b.ts"]);
});

test("characters are composed where the length is bounded first: that takes a time that grows with the square of their accents", async () => {
  const composing = (await sourceFiles()).filter(({ text }) => /\.normalize\("NF/.test(text)).map(({ path }) => path);
  expect(composing.toSorted()).toEqual([
    "cli/adapters/values.ts",
    "cli/resume/paths.ts",
    "common/evidence/spelling.ts",
    "lib/auth/passwords/hashing.ts",
    "lib/search/index/terms.ts",
    "lib/search/index/unit.ts",
  ]);
});
