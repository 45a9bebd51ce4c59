// `npm run bench:client`: the client's time and memory for a file of 1 GB and for 5,000 files, for first pushes, and for `watch`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { claudeLines, codexLines } from "../cli/sessions.ts";
import { getUsage, tellUsage } from "../support/usage.ts";
import { loadTexts } from "./corpus.ts";
import { idle, lines, startArchive } from "./watching.ts";

const MB = 1_000_000;
const { texts } = loadTexts();
const toJson = (lines: unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const makeId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** Writes one file of about `bytes` bytes. @returns its size */
async function writeLarge(path: string, bytes: number): Promise<number> {
  await mkdir(dirname(path), { recursive: true });
  const file = createWriteStream(path);
  const id = makeId(1);
  let written = 0;
  for (let turn = 0; written < bytes; turn++) {
    const [first, ...rest] = claudeLines(id, 25, { text: texts[turn % texts.length] ?? "" });
    const chunk = toJson([{ ...first, uuid: `turn-${turn}` }, ...rest]);
    written += chunk.length;
    if (!file.write(chunk)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
  return (await stat(path)).size;
}

async function writeMany(home: string, count: number): Promise<number> {
  let bytes = 0;
  for (let number = 1; number <= count; number++) {
    const isCodex = number % 3 === 0;
    const text = toJson(
      isCodex
        ? codexLines(makeId(number), 8)
        : claudeLines(makeId(number), 8, { text: texts[number % texts.length] ?? "" }),
    );
    const folder = isCodex ? `.codex/sessions/2026/11/${number % 28}` : `.claude/projects/p${number % 40}`;
    const path = join(home, folder, isCodex ? `rollout-${makeId(number)}.jsonl` : `${makeId(number)}.jsonl`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    bytes += text.length;
  }
  return bytes;
}

type Run = { seconds: number; memoryMb: number; cpuSeconds: number };

const program = resolve("dist/spoor.mjs");

/** Runs the client as it is delivered in a child process. */
async function run(home: string, words: string[], environment: Record<string, string> = {}): Promise<Run> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["--import", tellUsage, program, ...words, "--json"], {
    env: { NODE_ENV: "production", PATH: process.env.PATH, HOME: home, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0 && code !== 5) throw new Error(`the client exited with ${code}: ${output}`);
  return { seconds: (performance.now() - startedAt) / 1000, ...getUsage(output) };
}

function line(name: string, { seconds, cpuSeconds, memoryMb }: Run, bytes: number): void {
  const rate = `${(bytes / MB / cpuSeconds).toFixed(0)} MB per second of CPU`;
  const times = `${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of CPU`;
  console.log(`${name.padEnd(48)} ${(bytes / MB).toFixed(0)} MB in ${times}; ${rate}; ${memoryMb.toFixed(0)} MB peak`);
}

/** First pushes, and what `watch` costs, against a server that only counts. */
async function measureSending(folder: string): Promise<void> {
  const archive = await startArchive();
  const path = (home: string) => join(home, ".claude/projects/p", `${makeId(1)}.jsonl`);
  const large = join(folder, "large");
  const size = await writeLarge(path(large), 300 * MB);
  line("first push of one file of 300 MB", await run(large, ["push"], archive.environment), size);
  const sessions = join(folder, "sessions");
  const bytes = await writeMany(sessions, 3000);
  line("first push of 3,000 files", await run(sessions, ["push"], archive.environment), bytes);
  const { cpuSecondsPerMinute, memoryMb } = await idle(program, sessions, archive, 60);
  const idleCost = `${cpuSecondsPerMinute.toFixed(2)} s of CPU a minute; ${memoryMb.toFixed(0)} MB`;
  console.log(`${"watch of these, idle".padEnd(48)} ${idleCost}`);
  const grown = join(folder, "grown");
  await writeLarge(path(grown), 60 * MB);
  await run(grown, ["push"], archive.environment);
  const { sentBytes, uploads, readBytes, firstMs } = await lines(program, grown, archive, {
    path: path(grown),
    count: 30,
  });
  const cost = `${(sentBytes / 1000).toFixed(0)} kB sent in ${uploads} uploads, ${(readBytes / MB).toFixed(1)} MB read; the first after ${firstMs.toFixed(0)} ms`;
  console.log(`${"watch of 60 MB, thirty lines in thirty seconds".padEnd(48)} ${cost}`);
  archive.close();
}

const work = await mkdtemp(join(tmpdir(), "spoor-bench-"));
try {
  await measureSending(work);
  const one = join(work, "one");
  const size = await writeLarge(join(one, ".claude/projects/p", `${makeId(1)}.jsonl`), 1000 * MB);
  line("scan of one file of 1 GB", await run(one, ["scan"]), size);
  line(
    "dry run of the same: parsed, encoded, hashed",
    await run(one, ["push", "--dry-run", "--server", "http://localhost"]),
    size,
  );
  const many = join(work, "many");
  const bytes = await writeMany(many, 5000);
  line("first scan of 5,000 files", await run(many, ["scan"]), bytes);
  line("second scan of the same", await run(many, ["scan"]), bytes);
  line("dry run of the same", await run(many, ["push", "--dry-run", "--server", "http://localhost"]), bytes);
} finally {
  await rm(work, { recursive: true, force: true });
}
