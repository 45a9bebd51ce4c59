import { appendFile, mkdir, open, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { clientFile } from "#server/build/stamps";
import { maxLineBytes } from "../../../cli/files/line-reader.ts";
import { startFake } from "../../cli/fake-server.ts";
import { toLines } from "../../cli/home.ts";
import { claudeLines, claudeMessagesPerTurn, codexLines } from "../../cli/sessions.ts";
import { provideClient } from "../../support/client.ts";
import { getUsage, tellUsage } from "../../support/usage.ts";

const MiB = 1024 * 1024;
const maxRssMb = 300;
const id = "00000000-0000-4000-8000-000000000001";

test("a file of 100 MB with lines of the maximum length is sent in less than 300 MB of memory", {
  timeout: 120_000,
}, async () => {
  const fake = await startFake();
  const client = await provideClient(() => resolve(clientFile));
  const path = join(client.home, `.claude/projects/p/${id}.jsonl`);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, "");
  const text = "const timer = setTimeout(() => retry(attempt + 1), 漢字); // wait\n".repeat(120);
  const turns = toLines(...claudeLines(id, 500, { text }));
  const times = Math.ceil((90 * MiB) / Buffer.byteLength(turns));
  for (let time = 0; time < times; time++) await appendFile(path, turns);
  const long = toLines(...claudeLines(id, 1, { text: "x".repeat(maxLineBytes - 1000) }));
  await appendFile(path, long);
  await appendFile(path, toLines({ type: "user", message: { role: "user", content: "y".repeat(3 * maxLineBytes) } }));
  await appendFile(path, toLines({ type: "user", message: { content: Array(maxLineBytes).fill(0) } }));
  const environment = { SPOOR_URL: fake.url, SPOOR_TOKEN: "t", NODE_OPTIONS: `--import=${tellUsage}` };
  const { code, errors } = await client.run(["push"], environment);
  expect([code, errors]).toEqual([0, expect.stringContaining("the line is too long")]);
  // One message is shortened, and a notice stands where a line is missing.
  expect(fake.archive.get(`claude-code/${id}`)).toBe(times * 2000 + 4 + 2);
  const [shortened, missing] = fake.uploads.flatMap(({ traces }) => traces[0]?.messages.slice(-2) ?? []);
  expect(shortened?.content.replaceAll("y", "")).toMatch(
    /^\n\[Spoor: [\d,]+ btes are missing here: it is too long\.\]$/,
  );
  expect(shortened?.content.length).toBeGreaterThan(maxLineBytes / 3);
  expect(missing?.content).toMatch(/^\[Spoor: line \d+ is longer than 22 MiB and is missing here\.\]$/);
  expect(getUsage(errors).memoryMb).toBeLessThan(maxRssMb);
});

const homeBytes = 1e9;
const makeId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** Repeats a block until a file has at least `bytes` bytes. @returns how often */
async function writeBlocks(path: string, block: Buffer, bytes: number): Promise<number> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, "w");
  const times = Math.ceil(bytes / block.length);
  for (let time = 0; time < times; time++) await file.write(block);
  await file.close();
  return times;
}

/** Fills a home: half of its bytes are sessions of 100 MB, half sessions of 1 MB, of two agents. @returns the counts */
async function makeLargeHome(home: string) {
  const made = { bytes: 0, sessions: 0, claude: 0, codex: 0 };
  const text = "const timer = setTimeout(() => retry(attempt + 1), 漢字); // wait\n".repeat(240);
  for (let number = 1; made.bytes < homeBytes; number++) {
    const isCodex = number % 2 === 0;
    const wanted = made.bytes < homeBytes / 2 ? 100e6 : 1e6;
    const lines = isCodex ? codexLines(makeId(number), 200) : claudeLines(makeId(number), 20, { text });
    const block = Buffer.from(toLines(...lines));
    const folder = isCodex ? ".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-" : ".claude/projects/p/";
    const times = await writeBlocks(join(home, `${folder}${makeId(number)}.jsonl`), block, isCodex ? 1e6 : wanted);
    made.bytes += times * block.length;
    made.sessions++;
    if (isCodex) made.codex += times * 200 * 4;
    else made.claude += times * 20 * claudeMessagesPerTurn;
  }
  return made;
}

test("a home of a gigabyte is scanned and prepared for sending in less than 300 MB of memory", {
  timeout: 360_000,
}, async () => {
  const client = await provideClient(() => resolve(clientFile));
  const made = await makeLargeHome(client.home);
  const run = async (...words: string[]) => {
    const ran = await client.run([...words, "--json"], { NODE_OPTIONS: `--import=${tellUsage}` });
    expect(ran.code).toBe(0);
    expect(getUsage(ran.errors).memoryMb).toBeLessThan(maxRssMb);
    return JSON.parse(ran.output);
  };
  const { adapters } = await run("scan");
  const [claude, codex] = [adapters["claude-code"], adapters["codex-cli"]];
  expect([claude.messages, codex.messages]).toEqual([made.claude, made.codex]);
  expect(claude.sessions + codex.sessions).toBe(made.sessions);
  const { sessions } = await run("push", "--dry-run", "--server", "http://localhost");
  expect(sessions).toHaveLength(made.sessions);
});
