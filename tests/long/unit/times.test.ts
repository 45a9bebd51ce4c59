// What may not take long, measured: whose result is looked at in the tests beside.
import { expect, test } from "vitest";
import { proofIn } from "#common/evidence/output";
import { parseTraces } from "#lib/ingest/decode/traces";
import { EvidenceReading } from "#lib/ledger/evidence/reading";
import { countHomes } from "#lib/masking/home-folders";
import { computePrice } from "#lib/prices/price";
import { Collector } from "#lib/search/index/collect";
import { forEachTerm } from "#lib/search/index/terms";
import { makeCombiner } from "#lib/transcript/files/combined";
import { countChange } from "#lib/transcript/files/line-diff";
import { parseRemote } from "#lib/transcript/project";
import { deriveTitle } from "#lib/transcript/titles/derive-title";
import { message } from "../../unit/reader/rendering";

/** What some work takes of this thread's processor, in milliseconds: others may use the processors, too. */
async function measureCost(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const n = 65_536;

test.each([
  `<command-name>${" ".repeat(n)}`,
  `<command-message>x</command-message><command-args>${" ".repeat(n)}`,
  Array.from({ length: n / 8 }, (_, at) => `<a_${at}>`).join(""),
  "<task>".repeat(n / 6),
  "<system-reminder>".repeat(n / 17),
  "a/".repeat(n / 2),
  "a.".repeat(n / 2),
  "const a".repeat(n / 7),
  "continue ".repeat(n / 9),
  "\n".repeat(n),
  "```\n".repeat(n / 4),
  "# ".repeat(n / 2),
  `Implement the following plan:\n${"# Plan\n".repeat(n / 8)}`,
  "/a".repeat(n / 2),
  "a. A".repeat(n / 4),
  "hi, ".repeat(n / 4),
  `${"a.".repeat(n / 2)}Error`,
  "https://a/b".repeat(n / 11),
  "<aB>".repeat(n / 4),
  " │".repeat(n / 2),
])("a title is found in hostile text in bounded time: %.20j", async (text) => {
  expect(await measureCost(() => deriveTitle([{ role: "user", text, kind: undefined }]))).toBeLessThan(300);
});

test.each([
  "[HEAD ",
  "[detached HEAD HEAD HEAD \n",
  "[main (root",
  "[main abc123",
  "https://a/b/",
  "\nhttps://a.b/c/d/pull/",
  '"url":"https://a',
  "\nTo ",
  "\n   abc1234..abc1234 ",
  "\u001b[1;",
  "\nremote: ",
])("a megabyte of %j is read in time that grows with its length", async (part) => {
  const output = part.repeat(1_000_000 / part.length);
  const acts = ["git-commit", "git-push", "gh-pr-create", "pull-request-tool"] as const;
  expect(await measureCost(() => proofIn([...acts], output))).toBeLessThan(2000);
});

test("of a hostile session a bounded number of commits is kept in bounded time", async () => {
  const lines = (from: number) =>
    Array.from({ length: 20_000 }, (_, at) => `[main ${(0xabc_0000_0000 + from + at).toString(16)}] x`).join("\n");
  const command = "git commit -m x; gh pr create";
  const call = {
    content: command,
    metadata: { tool: { name: "Bash", callId: "c", input: { command }, content: "call" } },
  };
  const messages = Array.from({ length: 20 }, (_, at) => [
    call,
    { content: lines(at * 20_000), metadata: { result: { callId: "c" } } },
  ]);
  const reading = new EvidenceReading();
  const took = await measureCost(() => {
    for (const [position, one] of messages.flat().entries())
      reading.see({ ...one, position, role: null, tokenCount: null, createdAt: null });
  });
  expect([reading.findings.commits.length, took < 3000]).toEqual([500, true]);
});

test("a session that is made to take long is combined in bounded time", async () => {
  const block = "x\n".repeat(2000);
  const edits = Array.from({ length: 2000 }, (_, at) => {
    const input = { file_path: "/p/a", old_string: `${block}${at}`, new_string: `${block}${at + 1_000_000}` };
    return message({ metadata: { tool: { name: "Edit", input, output: "done" } } });
  });
  const combiner = makeCombiner({ source: "claude-code", metadata: { cwd: "/p" } });
  const took = await measureCost(() => {
    for (const one of edits) combiner.add(one);
    combiner.result();
  });
  expect(took).toBeLessThan(10_000);
}, 60_000);

test("two large texts without much in common are compared in time", async () => {
  const large = (step: number) => Array.from({ length: 50_000 }, (_, at) => `${(at * step) % 4999}`).join("\n");
  expect(await measureCost(() => countChange(large(7), large(11)))).toBeLessThan(3000);
});

test("a remote is read in time, whatever it is", async () => {
  const took = await measureCost(() => {
    for (const part of ["@", ":", "/", "a@", "a:", "[", ".git", "../"]) {
      parseRemote(part.repeat(1000));
      parseRemote(`https://${part.repeat(1000)}`);
    }
  });
  expect(took).toBeLessThan(500);
});

test("counting a megabyte of what looks like home folders takes no time", async () => {
  const hostile = "/home/".repeat(200_000) + "C:\\\\Users".repeat(100_000);
  expect(await measureCost(() => countHomes(hostile))).toBeLessThan(1000);
});

test("hostile names of models take no time", async () => {
  for (const model of ["-".repeat(200), "claude-".repeat(28), "/".repeat(200), "models/".repeat(28)]) {
    const usage = { inputTokens: 100_000 };
    const took = await measureCost(() =>
      computePrice({ model, source: "claude-code", at: new Date("2026-11-01"), usage }),
    );
    expect(took).toBeLessThan(500);
  }
});

test("tens of millions of empty values are refused before any of them is made", async () => {
  const body = Buffer.from(`{"traces":[],"x":[${"{},".repeat(20_000_000)}0]}`);
  const took = await measureCost(() =>
    expect(() => [...parseTraces(body)]).toThrow(expect.objectContaining({ code: "invalid_request" })),
  );
  expect(took).toBeLessThan(5000);
}, 60_000);

test("words chosen to collide take no longer than others", () => {
  const words: string[] = [];
  for (let n = 0; words.length < 30_000; n += 1) {
    const choose = (term: number) => Math.floor(term / 256) % 512 === 0 && words.push(`q${n.toString(36)}`);
    forEachTerm(`q${n.toString(36)}`, choose, { parts: false });
  }
  const measureTime = (text: string) => {
    const collector = new Collector();
    const startedAt = performance.now();
    for (const steps of [collector.begin("t", null, []), collector.add("t", 0, text)]) Array.from(steps);
    return performance.now() - startedAt;
  };
  const usual = measureTime(words.map((_, n) => `z${n.toString(36)}`).join("\n\n"));
  expect(measureTime(words.join("\n\n"))).toBeLessThan(5 * usual + 100);
}, 60_000);
