import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { mostLineBytes } from "../../cli/lines.ts";
import { provideClient } from "../support/client.ts";
import { startFake } from "./fake-server.ts";
import { linesOf } from "./home.ts";
import { claudeLines } from "./sessions.ts";

const MiB = 1024 * 1024;
const mostRssMb = 300;
const id = "00000000-0000-4000-8000-000000000001";

/** Makes a process say at its end how much memory it had at most, in KiB. */
const script = "process.on('exit', () => process.stderr.write('at most ' + process.resourceUsage().maxRSS))";
const tellMemory = `data:text/javascript,${encodeURIComponent(script)}`;

const memoryOf = (errors: string) => Number(/at most (\d+)/.exec(errors)?.[1]) / 1024;

test("a file of 100 MB, and lines as long as it reads them, are sent in less than 300 MB", {
  timeout: 120_000,
}, async () => {
  const fake = await startFake();
  const client = await provideClient(() => resolve("cli/main.ts"));
  const path = join(client.home, `.claude/projects/p/${id}.jsonl`);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, "");
  const text = "const timer = setTimeout(() => retry(attempt + 1), 漢字); // wait\n".repeat(120);
  const turns = linesOf(...claudeLines(id, 500, { text }));
  const times = Math.ceil((90 * MiB) / Buffer.byteLength(turns));
  for (let time = 0; time < times; time++) await appendFile(path, turns);
  const long = linesOf(...claudeLines(id, 1, { text: "x".repeat(mostLineBytes - 1000) }));
  await appendFile(path, long);
  await appendFile(path, linesOf({ type: "user", message: { content: "y".repeat(mostLineBytes) } }));
  const environment = { SPOOR_URL: fake.url, SPOOR_TOKEN: "t", NODE_OPTIONS: `--import=${tellMemory}` };
  const { code, errors } = await client.run(["push"], environment);
  expect([code, errors]).toEqual([5, expect.stringContaining("one of its lines has 16 MiB")]);
  expect(fake.archive.get(`claude-code/${id}`)).toBe(times * 2000 + 4);
  expect(memoryOf(errors)).toBeLessThan(mostRssMb);
});
