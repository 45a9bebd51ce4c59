import { appendFile, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toLines, writeBelow } from "./home.ts";
import { claudeLines, codexLines } from "./sessions.ts";
import { claudePath, makeId, world } from "./world.ts";

/** Tells on stderr how many bytes the process has read, which includes its own sources. */
const tellRead = `data:text/javascript,${encodeURIComponent(
  `import { readFileSync } from "node:fs";
   process.on("exit", () => process.stderr.write("\\nread " + /rchar: (\\d+)/.exec(readFileSync("/proc/self/io", "utf8"))[1] + "\\n"));`,
)}`;
const maxOwnBytes = 4e6;

const long = "word ".repeat(2000);
const claude = claudeLines(makeId(1), 1010, { text: long });
const codex = codexLines(makeId(2), 1010).map((line) => withText(line));

/** A line of Codex with a long question in it. */
function withText(line: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(line).replace("Question", long));
}

const coworkFolder = ".config/Claude/local-agent-mode-sessions/org/space/local_1";
const coworkNote = `${coworkFolder}.json`;

test.each([
  ["Claude Code", "claude-code", claudePath(1), claude, 4, []],
  ["Cowork", "cowork", `${coworkFolder}/.claude/projects/-x/${makeId(1)}.jsonl`, claude, 4, [coworkNote]],
  ["Codex", "codex-cli", `.codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-${makeId(2)}.jsonl`, codex, 5, []],
])(
  "of a large file of %s only what was added is read, and it is all the same afterwards",
  {
    skip: process.platform !== "linux",
  },
  async (_, source, name, lines, perTurn, notes) => {
    const { fake, home, client, spawn, push } = await world(0);
    const end = lines.length - 10 * perTurn;
    const path = await writeBelow(home, name, toLines(...lines.slice(0, end)));
    await push();
    const read = async () => {
      const { errors, code } = await spawn(["push"], { NODE_OPTIONS: `--import=${tellRead}` });
      expect(code).toBe(0);
      return Number(/read (\d+)/.exec(errors)?.[1]);
    };
    for (let turn = 0; turn < 2; turn++) {
      for (const note of notes) await writeBelow(home, note, JSON.stringify({ title: "Long".repeat(turn + 1) }));
      await appendFile(path, toLines(...lines.slice(end + turn * perTurn, end + (turn + 1) * perTurn)));
      expect(await read()).toBeLessThan(maxOwnBytes);
      expect(fake.uploads.at(-1)?.traces).toMatchObject([{ source, append: {}, messages: [{}, {}, {}, {}] }]);
    }
    // What a whole reading makes of it has the same digest and the same fields.
    await rm(join(client.home, ".local/state/spoor/checkpoints"), { recursive: true });
    await utimes(path, new Date(), new Date());
    expect(await push()).toMatchObject({ same: 1, sent: { sessions: 0 } });
    expect(fake.archive.get(`${source}/${fake.uploads[0]?.traces[0]?.sourceId}`)).toBe(1002 * 4);
  },
);

test("a large file that was rewritten is read whole, and sent whole where an earlier message has changed", async () => {
  const { fake, home, push } = await world(0);
  const path = await writeBelow(home, claudePath(1), toLines(...claude.slice(0, -8)));
  await push();
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace("Reading it, 0.", "Having read it, 0.") + toLines(...claude.slice(-8, -4)));
  await push();
  await appendFile(path, toLines(...claude.slice(-4)));
  await push();
  expect(fake.uploads.map(({ traces }) => [traces[0]?.append?.count, traces[0]?.messages.length])).toEqual([
    [undefined, 4032],
    [undefined, 4036],
    [4036, 4],
  ]);
});
